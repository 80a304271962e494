import type { StoredArtifact } from '../files/file-repository.ts';

/** The rows of artifacts. `FileRepository` adds and deletes them with their content. */
export interface ArtifactRepository {
  /** Returns the artifact of this project, also when it has expired and is not deleted yet. */
  find(projectId: string, artifactId: string): Promise<StoredArtifact | undefined>;
  /** Returns whether the project has at least `most` artifacts. Reads at most that many rows. */
  hasAtLeast(projectId: string, most: number): Promise<boolean>;
  /** Returns artifacts that expire at `now` or before, the oldest first. */
  findExpired(now: number, limit: number): Promise<readonly ExpiredArtifact[]>;
}

export interface ExpiredArtifact {
  readonly artifactId: string;
  readonly projectId: string;
}
