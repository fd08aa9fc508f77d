// What an operator does to connect a provider on a server whose keys are settings: the same steps as the command line
// prints, each to copy.
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog, DialogBody, DialogFooter } from "../parts/dialog.tsx";
import { Segments } from "../parts/segments.tsx";
import { text } from "../text/text.ts";
import styles from "./connect-dialog.module.css";
import { FoldedPrices } from "./price-list.tsx";
import type { ListedProvider } from "./provider-facts.ts";

const words = text.system;

type SetupDialogProps = { provider: ListedProvider; isConnected: boolean; onClose(): void };

export function SetupDialog({ provider, isConnected, onClose }: SetupDialogProps) {
  const { id, name, unlocks, offers, server_setup } = provider;
  const [platform, setPlatform] = useState(server_setup[0]!.platform);
  const command = `gesso providers connect ${id} --production`;
  return (
    <Dialog title={(isConnected ? words.replaceTitle : words.connectTitle)(name)} isWide onClose={onClose}>
      <DialogBody>
        <p>
          {words.unlocks(name, unlocks)} {words.keysAreSettings}
        </p>
        <CodeBlock caption={words.checkFirst} lines={command} />
        <div className={styles.platforms}>
          <Segments
            label={words.platform}
            isSmall
            options={server_setup.map((each) => ({ id: each.platform, label: each.platform }))}
            value={platform}
            onChange={setPlatform}
          />
        </div>
        {server_setup
          .filter((each) => each.platform === platform)
          .flatMap(({ where, steps }) =>
            steps.map(({ file, lines }, index) => (
              <CodeBlock
                key={lines}
                caption={file ?? (index === 0 ? words.run(where) : words.then)}
                isFile={file !== null}
                lines={lines}
              />
            )),
          )}
        <FoldedPrices offers={offers} />
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>{text.common.close}</Button>
      </DialogFooter>
    </Dialog>
  );
}

type CodeBlockProps = { caption: string; lines: string; isFile?: boolean };

function CodeBlock({ caption, lines, isFile = false }: CodeBlockProps) {
  return (
    <div className={styles.block}>
      <div className={styles.caption}>
        <span className={isFile && !caption.includes(" ") ? "mono" : undefined}>{caption}</span>
        <CopyButton value={lines} label={words.copyLines(caption)} isIconOnly />
      </div>
      <pre className={styles.code}>{lines}</pre>
    </div>
  );
}
