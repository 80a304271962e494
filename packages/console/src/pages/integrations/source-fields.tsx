import { Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useRecipes } from '../../api/integrations.ts';
import { PasswordField } from '../../components/forms/password-field.tsx';
import { PackageSearch } from './package-search.tsx';
import type { Wanted } from './plan-source.ts';
import { type TextKey, useTexts } from './use-texts.ts';

export interface SourceFieldsProps {
  readonly wanted: Wanted;
  readonly failure: string | null;
  readonly onChange: (fields: Partial<Wanted>) => void;
}

/** The fields of one kind of source. The first one shows the failure. */
export function SourceFields(props: SourceFieldsProps) {
  switch (props.wanted.kind) {
    case 'piece':
      return <PieceFields {...props} />;
    case 'openapi':
      return <ApiFields {...props} />;
    case 'mcp':
      return <ServerFields {...props} />;
    default:
      return <ArchiveFields {...props} />;
  }
}

function PieceFields({ wanted, failure, onChange }: SourceFieldsProps) {
  const { t } = useTexts();
  const { name, version, file } = wanted;
  return (
    <>
      <Group grow align="flex-start">
        <TextInput
          label={t('profiles.name')}
          description={file === null ? t('integrations.packageAbout') : t('integrations.file', { name: file.name })}
          placeholder="slack"
          value={name}
          disabled={file !== null}
          required={file === null}
          error={failure}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
        <TextInput
          label={t('plugin.version')}
          description={'\u00a0'}
          value={version}
          disabled={file !== null}
          onChange={(event) => onChange({ version: event.currentTarget.value })}
        />
      </Group>
      {file !== null ? null : (
        <PackageSearch words={name} onChoose={(chosen) => onChange({ name: chosen, version: '' })} />
      )}
    </>
  );
}

function ApiFields({ wanted, failure, onChange }: SourceFieldsProps) {
  const { t, own } = useTexts();
  const { recipe, url, server, file } = wanted;
  const about = own(recipe === '' ? 'imports.documentAbout' : 'imports.recipeDocument');
  return (
    <>
      <NativeSelect
        label={own('imports.recipe')}
        description={own('imports.recipeAbout')}
        data={[{ value: '', label: own('imports.noRecipe') }, ...useRecipes()]}
        value={recipe}
        onChange={(event) => onChange({ recipe: event.currentTarget.value })}
      />
      <TextInput
        label={own('imports.url')}
        description={file === null ? about : t('integrations.file', { name: file.name })}
        placeholder="https://api.example.com/openapi.json"
        type="url"
        value={url}
        disabled={file !== null}
        required={file === null && recipe === ''}
        error={failure}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
      />
      <TextInput
        label={own('imports.server')}
        placeholder="https://api.example.com"
        type="url"
        value={server}
        onChange={(event) => onChange({ server: event.currentTarget.value })}
      />
      <Names label="imports.operations" name="operations" wanted={wanted} onChange={onChange} />
      {recipe === '' ? (
        <>
          <Names label="imports.tags" name="tags" wanted={wanted} onChange={onChange} />
          <Names label="imports.paths" name="paths" wanted={wanted} onChange={onChange} />
        </>
      ) : null}
    </>
  );
}

function ServerFields({ wanted, failure, onChange }: SourceFieldsProps) {
  const { own } = useTexts();
  const { url, access } = wanted;
  return (
    <>
      <TextInput
        label={own('imports.url')}
        placeholder="https://mcp.example.com/mcp"
        type="url"
        value={url}
        required
        error={failure}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
      />
      <NativeSelect
        label={own('imports.access')}
        data={(['none', 'bearer', 'header'] as const).map((value) => ({ value, label: own(`imports.${value}`) }))}
        value={access}
        onChange={(event) => onChange({ access: event.currentTarget.value as Wanted['access'] })} // one of these three
      />
      {access === 'none' ? null : <Credential wanted={wanted} onChange={onChange} />}
      <Names label="imports.tools" name="operations" wanted={wanted} onChange={onChange} />
    </>
  );
}

function Credential({ wanted, onChange }: Pick<SourceFieldsProps, 'wanted' | 'onChange'>) {
  const { own } = useTexts();
  const { access, header, credential, value } = wanted;
  return (
    <>
      {access === 'bearer' ? null : (
        <TextInput
          label={own('imports.headerName')}
          value={header}
          required
          onChange={(event) => onChange({ header: event.currentTarget.value })}
        />
      )}
      <TextInput
        label={own('imports.credential')}
        value={credential}
        required
        onChange={(event) => onChange({ credential: event.currentTarget.value })}
      />
      <PasswordField
        label={own('imports.value')}
        value={value}
        required
        autoComplete="off"
        onChange={(event) => onChange({ value: event.currentTarget.value })}
      />
    </>
  );
}

function ArchiveFields({ wanted: { file }, failure }: SourceFieldsProps) {
  const { t, own } = useTexts();
  return (
    <>
      <Text size="sm">{file === null ? own('imports.archiveAbout') : t('integrations.file', { name: file.name })}</Text>
      {failure === null ? null : (
        <Text size="sm" c="red" role="alert">
          {failure}
        </Text>
      )}
    </>
  );
}

interface NamesProps extends Pick<SourceFieldsProps, 'wanted' | 'onChange'> {
  readonly label: TextKey;
  readonly name: 'operations' | 'tags' | 'paths';
}

function Names({ label, name, wanted, onChange }: NamesProps) {
  const { own } = useTexts();
  return (
    <TextInput
      label={own(label)}
      value={wanted[name]}
      spellCheck={false}
      onChange={(event) => onChange({ [name]: event.currentTarget.value })}
    />
  );
}
