import { Button, Checkbox, Group, Table, Text, TextInput } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { useLanguage } from '../../language/language.tsx';
import { placeText, type Reach, readHost, readPlace } from './places.ts';
import { useTexts } from './use-texts.ts';

export interface ReachEditorProps {
  readonly reach: Reach;
  /** Whether the bundle has secrets, so that hosts and places can get one. */
  readonly hasSecrets: boolean;
  readonly onChange: (reach: Reach) => void;
}

/** The hosts that a bundle may call, and the hosts and places that get its credential. */
export function ReachEditor(props: ReachEditorProps) {
  return (
    <>
      <Hosts {...props} />
      {props.hasSecrets ? <Places {...props} /> : null}
    </>
  );
}

function Hosts({ reach, hasSecrets, onChange }: ReachEditorProps) {
  const { t, own } = useTexts();
  const { hosts, credentialHosts } = reach;
  // A host that is no longer allowed stays in the table, so that the choice can be taken back.
  const [rows, setRows] = useState(hosts);
  const change = (list: readonly string[], host: string, isIn: boolean) =>
    isIn ? [...list, host] : list.filter((one) => one !== host);
  const allow = (host: string, isAllowed: boolean) => {
    const trusted = isAllowed ? credentialHosts : change(credentialHosts, host, false);
    onChange({ ...reach, hosts: change(hosts, host, isAllowed), credentialHosts: trusted });
  };
  const trust = (host: string, isTrusted: boolean) =>
    onChange({ ...reach, credentialHosts: change(credentialHosts, host, isTrusted) });
  const add = (text: string) => {
    const host = readHost(text);
    if (host === undefined || rows.includes(host)) return false;
    setRows([...rows, host]);
    allow(host, true);
    return true;
  };
  const columns = [
    { label: t('integrations.reached'), list: hosts, set: allow },
    ...(hasSecrets ? [{ label: t('integrations.trusted'), list: credentialHosts, set: trust }] : []),
  ];
  return (
    <>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('run.host')}</Table.Th>
            {columns.map(({ label }) => (
              <Table.Th key={label}>{label}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((host) => (
            <Table.Tr key={host}>
              <Table.Td>
                <code>{host}</code>
              </Table.Td>
              {columns.map(({ label, list, set }) => (
                <Table.Td key={label}>
                  <Checkbox
                    aria-label={`${label}: ${host}`}
                    checked={list.includes(host)}
                    disabled={list !== hosts && !hosts.includes(host)}
                    onChange={(event) => set(host, event.currentTarget.checked)}
                  />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <AddField
        label={t('integrations.addHost')}
        placeholder="api.example.com"
        badText={own('imports.badHost')}
        onAdd={add}
      />
    </>
  );
}

function Places({ reach, onChange }: ReachEditorProps) {
  const { t } = useLanguage();
  const { places } = reach;
  const add = (text: string) => {
    const place = readPlace(text);
    if (place === undefined) return false;
    onChange({ ...reach, places: [...places, place] });
    return true;
  };
  return (
    <>
      <Text size="sm" fw={600} mt="md">
        {t('integrations.places')}
      </Text>
      {places.length === 0 ? <Text size="sm">{t('plugin.noHosts')}</Text> : null}
      {places.map(placeText).map((text, index) => (
        <Group key={text} gap="xs" mt={4}>
          <code>{text}</code>
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`${t('try.removeItem')}: ${text}`}
            onClick={() => onChange({ ...reach, places: places.toSpliced(index, 1) })}
          >
            {t('try.removeItem')}
          </Button>
        </Group>
      ))}
      <AddField
        label={t('integrations.addPlace')}
        placeholder="header:x-api-key"
        badText={t('integrations.badText')}
        onAdd={add}
      />
    </>
  );
}

interface AddFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly badText: string;
  /** Returns false for a text that cannot be added. */
  readonly onAdd: (text: string) => boolean;
}

function AddField({ label, placeholder, badText, onAdd }: AddFieldProps) {
  const { t } = useLanguage();
  const [text, setText] = useState('');
  const [isBad, setBad] = useState(false);
  const add = () => {
    const isAdded = onAdd(text);
    setBad(!isAdded);
    if (isAdded) setText('');
  };
  return (
    <Group gap="xs" mt="xs" align="flex-end">
      <TextInput
        size="xs"
        label={label}
        placeholder={placeholder}
        value={text}
        error={isBad ? badText : null}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <Button size="xs" variant="default" onClick={add} aria-label={`${t('try.addItem')}: ${label}`}>
        {t('try.addItem')}
      </Button>
    </Group>
  );
}
