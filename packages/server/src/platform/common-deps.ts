import type { Admission } from './admission/admission.ts';
import type { Audit } from './audit/audit.ts';
import type { Clock } from './clock.ts';
import type { NewId } from './identifier.ts';
import type { Logger } from './log/logger.ts';
import type { Registry } from './metrics.ts';

/** The dependencies that most parts of the service take. */
export interface CommonDeps {
  readonly admission: Admission;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly newId: NewId;
}
