import { Checkbox, NativeSelect, Stack } from '@mantine/core';
import { type Scope, type ShownPermissions, scopes, withIncluded } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';
import { CollectionChoice } from './collection-choice.tsx';
import { ToolChoice } from './tool-choice.tsx';

/** What a form chooses for a new key. */
export interface KeyChoice {
  /** `read`: an agent that reads some collections. */
  readonly use: 'read' | 'other';
  readonly scopes: readonly Scope[];
  readonly limitsCollections: boolean;
  /** Names by id. */
  readonly collections: ReadonlyMap<string, string>;
  readonly limitsTools: boolean;
  readonly tools: readonly string[];
}

export const firstChoice: KeyChoice = {
  use: 'read',
  scopes: ['files', 'collections'],
  limitsCollections: false,
  collections: new Map(),
  limitsTools: false,
  tools: [],
};

/** Returns the permissions that were chosen. A list without an entry is not complete. */
export function permissionsOf(choice: KeyChoice): ShownPermissions {
  const collections = [...choice.collections.keys()];
  if (choice.use === 'read') return { scopes: ['collections:read'], collections, tools: null };
  const held = withIncluded(choice.scopes);
  const hasStores = held.has('collections:read') || held.has('files:read');
  return {
    scopes: choice.scopes,
    collections: choice.limitsCollections && hasStores ? collections : null,
    tools: choice.limitsTools && held.has('plugins:read') ? choice.tools : null,
  };
}

interface KeyChoiceProps {
  readonly choice: KeyChoice;
  readonly onChange: (change: Partial<KeyChoice>) => void;
}

/** The fields that choose what a key may do. */
export function KeyChoiceFields({ choice, onChange }: KeyChoiceProps) {
  const { t } = useLanguage();
  const { collections } = permissionsOf(choice);
  return (
    <>
      <NativeSelect
        label={t('settings.use')}
        value={choice.use}
        onChange={(event) => onChange({ use: event.currentTarget.value === 'read' ? 'read' : 'other' })}
        data={[
          { value: 'read', label: t('settings.use.read') },
          { value: 'other', label: t('settings.use.other') },
        ]}
      />
      {choice.use === 'other' ? <OtherUse choice={choice} onChange={onChange} /> : null}
      {collections === null ? null : (
        <CollectionChoice
          chosen={choice.collections}
          onChange={(chosen) => onChange({ collections: chosen })}
          isMissing={collections.length === 0}
        />
      )}
    </>
  );
}

/** Any scopes, and limits to collections and tools. */
function OtherUse({ choice, onChange }: KeyChoiceProps) {
  const { t } = useLanguage();
  const held = withIncluded(choice.scopes);
  const { tools } = permissionsOf(choice);
  const limit = (
    label: string,
    isLimited: boolean,
    names: readonly [all: string, some: string],
    set: (is: boolean) => void,
  ) => (
    <NativeSelect
      label={label}
      value={isLimited ? 'some' : 'all'}
      onChange={(event) => set(event.currentTarget.value === 'some')}
      data={[
        { value: 'all', label: names[0] },
        { value: 'some', label: names[1] },
      ]}
    />
  );
  return (
    <>
      <Checkbox.Group
        label={t('settings.scopes')}
        value={[...choice.scopes]}
        onChange={(values) => onChange({ scopes: values as Scope[] })} // of the list below
        error={choice.scopes.length === 0 ? t('settings.scopeMissing') : null}
      >
        <Stack gap="xs" mt="xs">
          {scopes.map((scope) => (
            <Checkbox key={scope} value={scope} label={t(`settings.scope.${scope}`)} />
          ))}
        </Stack>
      </Checkbox.Group>
      {held.has('plugins:read')
        ? limit(
            t('settings.toolLimit'),
            choice.limitsTools,
            [t('settings.toolsAll'), t('settings.toolsSome')],
            (limitsTools) => onChange({ limitsTools }),
          )
        : null}
      {tools === null ? null : (
        <ToolChoice chosen={tools} onChange={(chosen) => onChange({ tools: chosen })} isMissing={tools.length === 0} />
      )}
      {held.has('collections:read') || held.has('files:read')
        ? limit(
            t('settings.collectionLimit'),
            choice.limitsCollections,
            [t('settings.collectionsAll'), t('settings.collectionsSome')],
            (limitsCollections) => onChange({ limitsCollections }),
          )
        : null}
    </>
  );
}
