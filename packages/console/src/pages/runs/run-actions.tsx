import { Button } from '@mantine/core';
import type { Run } from '@quartermaster/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { cancelRun, isGoing, runsKey } from '../../api/runs.ts';
import { Icon } from '../../components/icons.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';

/** Actions on a run: stop it, or open its plugin again. */
export function RunActions({ run }: { run: Run }) {
  const { t } = useLanguage();
  const { showError } = useToasts();
  const queries = useQueryClient();
  const { run_id: runId, bundle_id: bundleId, plugin_id: pluginId } = run;
  const stop = useMutation({
    mutationFn: () => cancelRun(runId),
    onError: showError,
    onSettled: () => queries.invalidateQueries({ queryKey: runsKey }),
  });
  return (
    <>
      {isGoing(run) ? (
        <Button
          variant="default"
          loading={stop.isPending}
          leftSection={<Icon name="pause" size={16} />}
          onClick={() => stop.mutate()}
        >
          {t('run.stop')}
        </Button>
      ) : null}
      {pluginId === null ? null : (
        <Link to="/catalogue/$bundleId/$pluginId" params={{ bundleId, pluginId }}>
          <Button component="span" variant="default" leftSection={<Icon name="play" size={16} />}>
            {t('run.again')}
          </Button>
        </Link>
      )}
    </>
  );
}
