import { openTemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { testCollections } from './testing/collections.suite.ts';

testCollections('SQLite', openTemporaryDatabase);
