/** The folder of the project. */
export const ROOT: string

/** Installs the packages of the lock file in `folder`, unless that was done; prints `reason` before. */
export function installOnce(folder: string, reason: string): void
