import { temporaryDatabases } from '../../database/testing/temporary-databases.ts';
import { testIndexRebuild } from '../testing/index-rebuild.suite.ts';

testIndexRebuild('a rebuild of the search index in PostgreSQL', temporaryDatabases.PostgreSQL);
