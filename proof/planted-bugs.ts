/** A bug that was built into the service by hand, and the part of the proof that found it. */
export interface PlantedBug {
  readonly bug: string;
  readonly part: string;
  readonly how: string;
}

export const plantedBugs: readonly PlantedBug[] = [];
