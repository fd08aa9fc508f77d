// The type of dragged runs, such as tiles of the tray. An image field takes them.
export const RUN_DRAG_TYPE = "application/x-gesso-run";
