import { openMemoryCounts } from './share-counts.ts';
import { testShareCounts } from './testing/share-counts.suite.ts';

testShareCounts('in memory', openMemoryCounts);
