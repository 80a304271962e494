import { Type } from 'typebox';

/** The operation takes a key or a session of the console. */
export const keyOrSession = [{ apiKey: [] }, { session: [], consoleToken: [] }];
/** The operation takes a session of the console only. */
export const onlySession = [{ session: [], consoleToken: [] }];

/** An id in a path. The router returns 404 for longer parts of a path. */
export const Id = Type.String({ minLength: 1, maxLength: 256, description: 'Id.' });
/** A value without the shape of an id gives OBJECT_NOT_FOUND, not a validation error. */
export const PathId = Type.String({ maxLength: 256, description: 'Id.' });

export const ProjectParams = Type.Object({ project_id: Id });
export const CollectionParams = Type.Object({ collection_id: PathId });
export const RecordParams = Type.Object({ collection_id: PathId, record_id: PathId });
