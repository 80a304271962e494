import { List, Text } from '@mantine/core';
import {
  describePermissions,
  type PermissionWords,
  permissionWords,
  type ShownPermissions,
} from '@quartermaster/contract';
import { useFoundCollections } from '../../api/collections.ts';
import { useLanguage } from '../../language/language.tsx';

/** More names are behind a summary. */
const maxShown = 5;

interface KeyPermissionsProps {
  readonly of: ShownPermissions;
  /** Names of collections by their ids. Default: those of the newest collections. */
  readonly names?: ReadonlyMap<string, string>;
}

/** Says in sentences what a key may do. */
export function KeyPermissions({ of, names }: KeyPermissionsProps) {
  const { t } = useLanguage();
  const found = useFoundCollections('');
  const known = names ?? new Map(found.data?.map(({ collection_id: id, name }) => [id, name]));
  const collections = of.collections?.map((id) => known.get(id) || id) ?? null;
  const ids = Object.keys(permissionWords) as Array<keyof PermissionWords>; // the keys of that very object
  const words = Object.fromEntries(ids.map((id) => [id, t(`permission.${id}`)])) as Record<
    (typeof ids)[number],
    string
  >;
  const sentences = describePermissions({ ...of, collections: cut(collections), tools: cut(of.tools) }, words);
  const hidden = [collections, of.tools].filter((list) => (list?.length ?? 0) > maxShown).flat();
  return (
    <Text size="xs" c="dimmed" component="div">
      <List size="xs" listStyleType="none" pl={0} aria-label={t('settings.keyMay')}>
        {sentences.map((sentence) => (
          <List.Item key={sentence}>{sentence}</List.Item>
        ))}
      </List>
      {hidden.length === 0 ? null : (
        <details>
          <summary>{t('settings.allNames', { count: hidden.length })}</summary>
          {hidden.join(' · ')}
        </details>
      )}
    </Text>
  );
}

function cut(names: readonly string[] | null): readonly string[] | null {
  return names === null || names.length <= maxShown
    ? names
    : [...names.slice(0, maxShown), `… (+${names.length - maxShown})`];
}
