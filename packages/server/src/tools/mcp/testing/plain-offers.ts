import assert from 'node:assert/strict';
import type { OffersDeps } from '../toolsets/tool-offer.ts';

/** The offers of an endpoint whose tools are all listed, so that nothing is searched. */
export const plainOffers: OffersDeps = {
  searchTools: { open: () => assert.fail('no tool is searched') },
  findProfiles: () => assert.fail('no profile is sent'),
  listTokens: 0,
};
