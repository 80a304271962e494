/** Memory of this process. A sandbox has no `/proc`, which the runtime reads it from: there it is the most it ever held. */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
