// A dialog over the page. Escape and a press beside it close it, and the focus returns to what opened it.
import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { classNames } from "./class-names.ts";
import styles from "./dialog.module.css";

type DialogProps = {
  title: string;
  children: ReactNode;
  onClose(): void;
  isWide?: boolean;
  /** Whether a press beside the dialog closes it. Off where that would lose something. */
  isDismissable?: boolean;
};

export function Dialog({ title, children, onClose, isWide = false, isDismissable = true }: DialogProps) {
  return (
    <ModalOverlay
      isOpen
      isDismissable={isDismissable}
      className={styles.overlay ?? ""}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Modal className={classNames(styles.modal, isWide && styles.wide)}>
        <AriaDialog className={styles.dialog ?? ""}>
          <Heading slot="title" className={styles.title ?? ""}>
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** What the dialog says or asks. */
export const DialogBody = ({ children }: { children: ReactNode }) => <div className={styles.body}>{children}</div>;

/** The buttons of the dialog, the one that acts last. */
export const DialogFooter = ({ children }: { children: ReactNode }) => (
  <footer className={styles.footer}>{children}</footer>
);
