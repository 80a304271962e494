/** What questions over some connections cost. */
export interface QuestionFigures {
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
  /** Milliseconds of processor time of the engine for one question. */
  readonly processorMs: number;
}

/** An engine that holds the texts of one size and answers the questions of `search-texts.ts`. */
export interface SearchEngine {
  readonly name: string;
  ask(load: { connections: number; seconds: number }): Promise<QuestionFigures>;
  close(): Promise<void>;
}

export function describeFigures({ p50, p99, perSecond, processorMs }: QuestionFigures): string {
  return `p50 ${p50.toFixed(2)} p99 ${p99.toFixed(1)} ms, ${perSecond.toFixed(0)}/s, ${processorMs.toFixed(2)} ms of processor`;
}
