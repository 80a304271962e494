import { Anchor, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import type { Bundle, Connection, ConnectionLink } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pluginsApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { useMay } from '../../app/project.tsx';
import { Card, CardButton } from '../../components/card-list.tsx';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Dialog } from '../../components/forms/dialog.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { LoadedCards } from '../../components/lists/loaded-cards.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { BundleChoice, onlyOne, takesCredentials } from './bundle-choice.tsx';
import { connectionWords, knownReasons } from './connection-words.ts';
import { OauthClientForm } from './oauth-client-form.tsx';

const connectionsKey = ['connections'];

/** What is open: a dialog, or the link that was created. */
type Shown =
  | { readonly what: 'connect' | 'client' }
  | { readonly what: 'link'; readonly link: ConnectionLink }
  | { readonly what: 'disconnect'; readonly connection: Connection }
  | null;

export interface ConnectionsProps {
  readonly bundles: readonly Bundle[];
  /** Shows the connections of one bundle only. */
  readonly bundleId?: string;
}

/** The accounts that end users have connected. Applications do the same over the API. */
export function Connections({ bundles, bundleId }: ConnectionsProps) {
  const { code } = useLanguage();
  const words = connectionWords[code];
  const queries = useQueryClient();
  const { say } = useToasts();
  const mayChange = useMay('change');
  const [shown, setShown] = useState<Shown>(null);
  const close = () => setShown(null);
  const needy = bundles.filter(takesCredentials);
  const list = useInfiniteList({
    queryKey: [...connectionsKey, bundleId],
    load: (page, signal) => pluginsApi.json('GET /v1/connections', { query: { ...page, bundle_id: bundleId }, signal }),
    idOf: (connection) => connection.connection_id,
    enabled: mayChange,
  });
  const refresh = () => queries.invalidateQueries({ queryKey: connectionsKey });
  const created = async (link: ConnectionLink) => {
    await refresh();
    setShown({ what: 'link', link });
  };
  const renew = async ({ connection_id }: Connection) =>
    created(await pluginsApi.data('POST /v1/connections/{connection_id}/link', { path: { connection_id }, body: {} }));
  const disconnect = async ({ connection_id }: Connection) => {
    await pluginsApi.json('DELETE /v1/connections/{connection_id}', { path: { connection_id } });
    await refresh();
    say(words.disconnected);
  };
  if (!mayChange) return null;
  return (
    <section aria-label={words.title}>
      <ConnectionsHead onShow={(what) => setShown({ what })} />
      <Text size="sm" c="dimmed" mb="sm">
        {list.isSuccess && list.items.length === 0 ? `${words.about} ${words.none}` : words.about}
      </Text>
      <LoadedCards list={list}>
        {(connection) => (
          <ConnectionRow
            connection={connection}
            bundle={bundles.find(({ bundle_id }) => bundle_id === connection.bundle_id)}
            onLink={() => renew(connection)}
            onDisconnect={() => setShown({ what: 'disconnect', connection })}
          />
        )}
      </LoadedCards>
      {shown?.what === 'connect' ? <ConnectForm bundles={needy} onDone={created} onClose={close} /> : null}
      {shown?.what === 'client' ? <OauthClientForm bundles={needy} onClose={close} /> : null}
      {shown?.what === 'link' ? <LinkDialog link={shown.link} onClose={close} /> : null}
      {shown?.what === 'disconnect' ? (
        <Confirm
          title={words.disconnectTitle}
          action={words.disconnect}
          onConfirm={() => disconnect(shown.connection)}
          onClose={close}
        >
          {words.disconnectAbout}
        </Confirm>
      ) : null}
    </section>
  );
}

function ConnectionsHead({ onShow }: { onShow: (what: 'connect' | 'client') => void }) {
  const { code } = useLanguage();
  const words = connectionWords[code];
  const isAdministrator = useMay('administer');
  return (
    <Group justify="space-between" mt="xl" mb="xs">
      <Title order={2} size="h4">
        {words.title}
      </Title>
      <Group gap="xs">
        {isAdministrator ? (
          <Button variant="default" onClick={() => onShow('client')}>
            {words.client}
          </Button>
        ) : null}
        <Button variant="default" onClick={() => onShow('connect')}>
          {words.connect}
        </Button>
      </Group>
    </Group>
  );
}

/** Other reasons are codes of the provider. */
const isKnown = (reason: string): reason is (typeof knownReasons)[number] =>
  knownReasons.some((known) => known === reason);

interface ConnectionRowProps {
  readonly connection: Connection;
  readonly bundle: Bundle | undefined;
  readonly onLink: () => Promise<unknown>;
  readonly onDisconnect: () => void;
}

function ConnectionRow({ connection, bundle, onLink, onDisconnect }: ConnectionRowProps) {
  const { code } = useLanguage();
  const { showError } = useToasts();
  const words = connectionWords[code];
  const { end_user: endUser, status, reason, account } = connection;
  const name = bundle?.name ?? connection.bundle_id;
  const isBroken = status === 'reconnect_required' || status === 'misconfigured';
  return (
    <Card
      name={connection.connection_id}
      about={
        <>
          <Text fw={600}>
            {name} · {endUser}
          </Text>
          <Text size="xs" c="dimmed" mt={4}>
            <Text span inherit {...(isBroken ? { c: 'red' } : {})}>
              {words[status]}
              {reason === null ? '' : ` (${isKnown(reason) ? words[reason] : reason})`}
            </Text>
            {account === null ? '' : ` · ${account.label}`} · <code>{connection.connection_id}</code>
          </Text>
        </>
      }
      actions={
        <Group gap="xs">
          <CardButton label={words.again} of={`${name} ${endUser}`} onClick={() => void onLink().catch(showError)} />
          <CardButton label={words.disconnect} of={`${name} ${endUser}`} isEnd onClick={onDisconnect} />
        </Group>
      }
    />
  );
}

interface ConnectFormProps {
  readonly bundles: readonly Bundle[];
  readonly onDone: (link: ConnectionLink) => Promise<void>;
  readonly onClose: () => void;
}

function ConnectForm({ bundles, onDone, onClose }: ConnectFormProps) {
  const { code } = useLanguage();
  const words = connectionWords[code];
  const [bundleId, setBundleId] = useState(onlyOne(bundles));
  const [endUser, setEndUser] = useState('');
  const connect = async () =>
    onDone(await pluginsApi.data('POST /v1/connections', { body: { bundle_id: bundleId, end_user: endUser } }));
  return (
    <Dialog onClose={onClose} title={words.connect}>
      <SubmitForm action={words.connect} onSubmit={connect} isReady={bundleId !== '' && endUser !== ''}>
        {(failure) => (
          <>
            <BundleChoice bundles={bundles} value={bundleId} onChange={setBundleId} />
            <TextInput
              label={words.endUser}
              description={words.endUserHint}
              value={endUser}
              onChange={(event) => setEndUser(event.currentTarget.value)}
              maxLength={256}
              error={failure}
            />
          </>
        )}
      </SubmitForm>
    </Dialog>
  );
}

function LinkDialog({ link, onClose }: { link: ConnectionLink; onClose: () => void }) {
  const { code } = useLanguage();
  const words = connectionWords[code];
  return (
    <Dialog onClose={onClose} title={words.connect}>
      <Stack gap="sm">
        <Anchor href={link.connect_url} target="_blank" rel="noreferrer">
          {words.open}
        </Anchor>
        <Text size="sm">{words.once}</Text>
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {link.connect_url}
        </Text>
      </Stack>
    </Dialog>
  );
}
