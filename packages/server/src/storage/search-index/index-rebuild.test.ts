import { openTemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import { testIndexRebuild } from './testing/index-rebuild.suite.ts';

testIndexRebuild('a rebuild of the search index', () => openTemporaryDatabase());
