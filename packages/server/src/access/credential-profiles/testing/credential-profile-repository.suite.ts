import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNewId } from '../../../platform/identifier.ts';
import type { CredentialProfileRepository, StoredProfile } from '../credential-profile-repository.ts';

export interface OpenedProfiles {
  readonly repository: CredentialProfileRepository;
  /** Returns the id of a new project. */
  newProject(): Promise<string>;
}

const newId = createNewId();

function profileOf(projectId: string, name: string, changes: Partial<StoredProfile> = {}): StoredProfile {
  const id = newId('credentialProfile');
  const encrypted = `v1.key-1.nonce.${id}`;
  return {
    id,
    projectId,
    bundleId: 'weather',
    name,
    encrypted,
    keyId: 'key-1',
    createdAt: 5,
    updatedAt: 6,
    connection: null,
    ...changes,
  };
}

const add = (repository: CredentialProfileRepository, profile: StoredProfile) => repository.add(profile, 1_000);

/** Tests the behaviour of every repository of credential profiles. */
export function testCredentialProfileRepository(opened: () => OpenedProfiles): void {
  test('a profile is found by project and name until it is removed', async () => {
    const { repository, newProject } = opened();
    const [mine, other] = [await newProject(), await newProject()];
    const profile = profileOf(mine, 'One.a-b_c');
    assert.equal(await add(repository, profile), 'added');
    assert.deepEqual(await repository.find(mine, 'One.a-b_c'), profile);
    assert.equal(await repository.find(mine, 'one.a-b_c'), undefined);
    assert.equal(await repository.find(other, 'One.a-b_c'), undefined);
    assert.equal(await repository.remove(other, 'One.a-b_c'), false);
    assert.equal(await repository.remove(mine, 'One.a-b_c'), true);
    assert.equal(await repository.remove(mine, 'One.a-b_c'), false);
    assert.equal(await repository.find(mine, 'One.a-b_c'), undefined);
  });

  test('a name identifies one profile in a project, and another profile in another project', async () => {
    const { repository, newProject } = opened();
    const [mine, other] = [await newProject(), await newProject()];
    const many = Array.from({ length: 10 }, () => profileOf(mine, 'same'));
    const added = await Promise.all(many.map((profile) => add(repository, profile)));
    assert.equal(added.filter((outcome) => outcome === 'added').length, 1);
    assert.deepEqual(await repository.find(mine, 'same'), many[added.indexOf('added')]);
    assert.equal(await add(repository, profileOf(other, 'same')), 'added');
  });

  test('one of two concurrent profiles is added when only one more is allowed', async () => {
    const { repository, newProject } = opened();
    const mine = await newProject();
    const addOne = (name: string) => repository.add(profileOf(mine, name), 3);
    assert.deepEqual([await addOne('a'), await addOne('b')], ['added', 'added']);
    assert.deepEqual((await Promise.all([addOne('c'), addOne('d')])).toSorted(), ['added', 'full']);
    assert.deepEqual([await addOne('e'), await addOne('a')], ['full', 'taken']);
    assert.equal(await repository.add(profileOf(await newProject(), 'e'), 3), 'added', 'another project has its own');
    await repository.remove(mine, 'a');
    assert.equal(await addOne('e'), 'added');
  });

  test('the profiles of a project are listed page by page, in both directions', async () => {
    const { repository, newProject } = opened();
    const mine = await newProject();
    const profiles = ['a', 'b', 'c', 'd', 'e'].map((name) => profileOf(mine, name));
    for (const profile of profiles) await add(repository, profile);
    await add(repository, profileOf(await newProject(), 'f'));
    const namesOf = async (query: Parameters<typeof repository.list>[1]) => {
      const { items, hasMore } = await repository.list(mine, query);
      return [items.map(({ name }) => name).join(''), hasMore];
    };
    assert.deepEqual(await namesOf({}), ['edcba', false]);
    assert.deepEqual(await namesOf({ limit: 2 }), ['ed', true]);
    const third = profiles[2]?.id ?? '';
    assert.deepEqual(await namesOf({ limit: 2, after: third }), ['ba', false]);
    assert.deepEqual(await namesOf({ limit: 1, before: third }), ['d', true]);
    assert.deepEqual(await namesOf({ order: 'asc', after: third }), ['de', false]);
  });

  test('an encrypted text replaces only the one that was read before', async () => {
    const { repository, newProject } = opened();
    const profile = profileOf(await newProject(), 'one');
    await add(repository, profile);
    const replacements = Array.from({ length: 5 }, (_, index) => ({
      encrypted: `new ${index}`,
      keyId: 'key-2',
      updatedAt: 9,
    }));
    const replaced = await Promise.all(replacements.map((replacement) => repository.replace(profile, replacement)));
    assert.equal(replaced.filter(Boolean).length, 1);
    const stored = replacements[replaced.indexOf(true)];
    assert.deepEqual(await repository.find(profile.projectId, 'one'), { ...profile, ...stored });
    assert.equal(await repository.replace(profile, { encrypted: 'late', keyId: 'key-3', updatedAt: 10 }), false);
  });

  test('the profiles of each key are counted, and those of other keys are returned in parts', async () => {
    const { repository, newProject } = opened();
    const mine = await newProject();
    const before = await repository.countByKey();
    for (const [index, keyId] of ['count-a', 'count-a', 'count-b'].entries()) {
      await add(repository, profileOf(mine, `n${index}`, { keyId }));
    }
    const now = await repository.countByKey();
    assert.deepEqual([now.get('count-a'), now.get('count-b')], [2, 1]);
    assert.equal(now.size, before.size + 2);
    const found: string[] = [];
    for (let after = ''; ; ) {
      const part = await repository.listEncryptedByOtherKeys('count-a', after, 1);
      const [one] = part;
      if (one === undefined) break;
      found.push(one.keyId);
      after = one.id;
    }
    assert.ok(found.includes('count-b') && !found.includes('count-a'));
  });

  test('one claim of a refresh is valid at a time; a claim that was not released expires', async () => {
    const { repository, newProject } = opened();
    const profile = profileOf(await newProject(), 'rotating');
    await add(repository, profile);
    const claims = await Promise.all(['a', 'b', 'c'].map((name) => repository.claimRefresh(profile.id, name, 60_000)));
    assert.deepEqual(claims.toSorted(), ['busy', 'busy', 'claimed']);
    const winner = ['a', 'b', 'c'][claims.indexOf('claimed')] ?? '';
    await repository.releaseRefresh(profile.id, 'another');
    assert.equal(await repository.claimRefresh(profile.id, 'd', 60_000), 'busy');
    await repository.releaseRefresh(profile.id, winner);
    // The claim expires immediately.
    assert.equal(await repository.claimRefresh(profile.id, 'd', -1), 'claimed');
    assert.equal(await repository.claimRefresh(profile.id, 'e', 60_000), 'expired');
    assert.equal(await repository.claimRefresh(profile.id, 'f', 60_000), 'busy');
    assert.deepEqual(await repository.find(profile.projectId, 'rotating'), profile);
  });
}
