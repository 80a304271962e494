/** The result of one step for one collection. */
export interface RechunkStep {
  readonly collectionId: string;
  /** The records that now wait to be split again. */
  readonly queued: readonly string[];
  /** The number of records that keep their chunks, without work. */
  readonly numExamined: number;
  /** No record of the collection has chunks of earlier settings. */
  readonly isDone: boolean;
}

export interface RechunkBounds {
  /** The maximum records of a collection that wait or are split again at the same time. */
  readonly inProgress: number;
  /** The maximum records that one step examines. */
  readonly examined: number;
  readonly now: number;
  readonly deadlineAt: number;
}

/** Finds the records whose chunks follow earlier settings of their collection. */
export interface RechunkRepository {
  /**
   * Examines the next records of the first such collection after this id, in one transaction. Records with a splitter,
   * pairs and records that have no chunks need no work. Web pages, records of which a request has changed a chunk, and
   * records that could not be processed again keep their chunks. The others are queued. @returns undefined when there is no such collection
   */
  step(afterCollection: string, bounds: RechunkBounds): Promise<RechunkStep | undefined>;
}
