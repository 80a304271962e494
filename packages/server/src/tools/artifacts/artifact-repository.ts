import type { StoredArtifact } from '../../stores/files/file-repository.ts';

/** The rows of artifacts. `FileRepository` adds and deletes them with their content. */
export interface ArtifactRepository {
  /** Returns the artifact of this project, also when it has expired and is not deleted yet. */
  find(projectId: string | null, artifactId: string): Promise<StoredArtifact | undefined>;
  /** Returns whether the project has at least `most` artifacts. Reads at most that many rows. */
  hasAtLeast(projectId: string | null, most: number): Promise<boolean>;
  /** Returns artifacts that expire at `now` or before, the oldest first. */
  findExpired(now: number, limit: number): Promise<readonly ExpiredArtifact[]>;
  /** Returns the number and the bytes of the artifacts of all projects. */
  countStored(): Promise<StoredArtifacts>;
}

export interface StoredArtifacts {
  readonly artifacts: number;
  readonly bytes: number;
}

export interface ExpiredArtifact {
  readonly artifactId: string;
  readonly projectId: string | null;
}
