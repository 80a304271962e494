/** The windows of rate limits, in seconds: calendar minutes and days of UTC. */
export const rateWindows = { minute: 60, day: 86_400 } as const;
export type RateWindow = keyof typeof rateWindows;

/** A window by its start, in milliseconds. */
interface PlacedWindow {
  readonly window: RateWindow;
  readonly start: number;
}

export const lengthOf = (window: RateWindow): number => rateWindows[window] * 1000;
export const endOf = ({ window, start }: PlacedWindow): number => start + lengthOf(window);

/** A window of another process may have started later, but by less than its length. */
export function isOver(placed: PlacedWindow, now: number): boolean {
  return now >= endOf(placed) || now < placed.start - lengthOf(placed.window);
}

/** A rate limit of a project. A rule never changes. */
export interface RateRule {
  readonly id: string;
  readonly projectId: string;
  /** The key, or the consent of an application, that it limits. Null: it limits each one of the project by itself. */
  readonly subjectId: string | null;
  /** The `bundle_id` or `bundle_id/plugin_id` whose runs it limits. Null: it limits requests. */
  readonly tool: string | null;
  readonly perMinute: number | null;
  readonly perDay: number | null;
  readonly createdAt: number;
}

/** The count of one subject in the windows of one kind. */
export interface UsagePlace {
  readonly ruleId: string;
  readonly subjectId: string;
  readonly window: RateWindow;
}

export interface Usage {
  /** The start of the counted window, in milliseconds. */
  readonly start: number;
  /** What all processes together have taken in this window. */
  readonly count: number;
}

export interface PortionRequest extends UsagePlace {
  readonly limit: number;
  /** The start of the present window. */
  readonly start: number;
  /** The number of callers that wait. The portion is a tenth of what is left if that is more. */
  readonly wanted: number;
}

/** Stores rules and counts, which all processes of the store share. */
export interface RateLimitRepository {
  /** Returns the rules in the order of their ids. @param projectId default: of all projects */
  listRules(projectId?: string): Promise<RateRule[]>;
  /** @param most the maximum number of rules of one project @throws Problem OBJECT_NOT_FOUND for an unknown project */
  addRule(rule: RateRule, most: number): Promise<'added' | 'full' | 'unknown_subject'>;
  /** @returns false when the project has no such rule */
  removeRule(projectId: string, ruleId: string): Promise<boolean>;
  /** Takes a portion of what is left, in one statement. @returns undefined when nothing is left */
  take(request: PortionRequest): Promise<(Usage & { readonly portion: number }) | undefined>;
  returnUnused(place: UsagePlace & Pick<Usage, 'start'>, amount: number): Promise<void>;
  listUsage(projectId: string, subjectId: string): Promise<Array<UsagePlace & Usage>>;
  /** Forgets counts of windows that started before a time. */
  sweep(before: number): Promise<void>;
}
