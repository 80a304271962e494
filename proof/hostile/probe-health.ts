/** Requests the health of both addresses continuously. */
export interface HealthProbe {
  /**
   * Returns the number of probes, the longest wait in milliseconds, and the number of probes without a response in
   * time.
   */
  stop(): Promise<{ probes: number; longest: number; silent: number }>;
}

const interval = 50;
/** A number of milliseconds far above the delays of a busy machine. */
const timeoutMs = 10_000;

export function probeHealth({ filesUrl, pluginsUrl }: { filesUrl: string; pluginsUrl: string }): HealthProbe {
  let isOver = false;
  const counts = { probes: 0, longest: 0, silent: 0 };
  const probe = async (url: string) => {
    while (!isOver) {
      const started = performance.now();
      const answered = await fetch(`${url}/v1/health_check`, { signal: AbortSignal.timeout(timeoutMs) })
        .then(async (answer) => (await answer.arrayBuffer()) !== undefined && answer.ok)
        .catch(() => false);
      counts.probes += 1;
      counts.longest = Math.max(counts.longest, Math.round(performance.now() - started));
      if (!answered) counts.silent += 1;
      await new Promise((resolve) => setTimeout(resolve, interval));
    }
  };
  const probes = [probe(filesUrl), probe(pluginsUrl)];
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(probes);
      return counts;
    },
  };
}
