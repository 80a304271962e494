/** Rate limits and their counts. */
export interface RateTables {
  rate_limit: RateLimitTable;
  rate_usage: RateUsageTable;
}

export interface RateLimitTable {
  id: string;
  project_id: string;
  subject_id: string | null;
  tool: string | null;
  per_minute: number | null;
  per_day: number | null;
  created_at: number;
}

/** What all processes together have taken in the last window of a kind. */
export interface RateUsageTable {
  rate_limit_id: string;
  subject_id: string;
  kind: 'minute' | 'day';
  project_id: string;
  window_start: number;
  count: number;
  /** What the last statement has taken. */
  portion: number;
}
