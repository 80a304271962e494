export function installConsolePackages(): Promise<void>;
export function installPeerPackages(): Promise<void>;
