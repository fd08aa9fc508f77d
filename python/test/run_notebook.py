"""Executes a notebook with this interpreter and prints what its cells returned. The process of the kernel ends with it."""

from __future__ import annotations

import json
import os
import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)  # type: ignore[no-untyped-call]
# Files that the cells write are beside the notebook.
folder = {"metadata": {"path": os.path.dirname(sys.argv[1])}}
NotebookClient(notebook, timeout=300, kernel_name="python3", resources=folder).execute()
cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
outputs = [[sorted(output.get("data", {})) for output in cell.outputs] for cell in cells]
texts = [output.get("data", {}).get("text/plain") for cell in cells for output in cell.outputs]
print(json.dumps({"cells": len(notebook.cells), "outputs": outputs, "texts": texts}))
