// Runs before the npm scripts: `set-up/run-set-up.mjs` installs and builds what they need. This file, and the files that
// it imports at once, keep to the syntax of Node.js 12. An old Node.js of the host then prints one sentence instead of a
// syntax error.
import { checkHost } from './set-up/check-host.mjs';

checkHost();
import('./set-up/run-set-up.mjs');
