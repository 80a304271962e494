export function installConsolePackages(): Promise<void>;
