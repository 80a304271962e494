export interface Heartbeat {
  /** Renews the lease now. */
  renewNow(): void;
  /** Renews the lease half a second after the claim or the last renewal, or now; calls until then share one renewal. */
  renewSoon(): void;
  /** Waits for the renewal in progress. No further renewal starts. */
  close(): Promise<void>;
}

export interface HeartbeatOptions {
  readonly leaseMs: number;
  /** Extends the lease. @returns false when it is lost */
  readonly renew: () => Promise<boolean>;
  readonly onLost: () => void;
  readonly onError: (error: unknown) => void;
}

/** The minimum time between two requested renewals, in milliseconds. */
const leastMsBetween = 500;

/** Renews a lease three times as often as needed, one renewal at a time. The lease survives two failed renewals. */
export function startHeartbeat({ leaseMs, renew, onLost, onError }: HeartbeatOptions): Heartbeat {
  let renewing = Promise.resolve();
  let cooldown: NodeJS.Timeout | undefined = setTimeout(endCooldown, leastMsBetween);
  let isWanted = false;
  let closed = false;

  function renewNow(): void {
    clearTimeout(cooldown);
    isWanted = false;
    cooldown = setTimeout(endCooldown, leastMsBetween);
    renewing = renewing.then(renewOnce);
  }

  function endCooldown(): void {
    cooldown = undefined;
    if (isWanted) renewNow();
  }

  async function renewOnce(): Promise<void> {
    if (closed) return;
    try {
      if (!(await renew())) onLost();
    } catch (error) {
      onError(error);
    }
  }

  const timer = setInterval(renewNow, leaseMs / 3);
  return {
    renewNow,
    renewSoon() {
      if (cooldown === undefined) renewNow();
      else isWanted = true;
    },
    async close() {
      closed = true;
      clearInterval(timer);
      clearTimeout(cooldown);
      await renewing;
    },
  };
}
