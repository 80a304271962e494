import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPlaces } from './find-places.ts';

/** Files as the kernel writes them: in a unit of systemd, in containers, on an older machine. */
const unifiedMount =
  '30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate';

test('the unit of systemd on version 2', () => {
  assert.deepEqual(findPlaces('0::/system.slice/quartermaster.service\n', `${unifiedMount}\n`), {
    unified: { folder: '/sys/fs/cgroup/system.slice/quartermaster.service', isHighest: false },
    byController: {},
  });
});

test('a container with a namespace of its own on version 2', () => {
  const mount =
    '612 601 0:26 /../../.. /elsewhere ro - cgroup2 cgroup rw\n613 601 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw';
  assert.deepEqual(findPlaces('0::/\n', mount).unified, { folder: '/sys/fs/cgroup', isHighest: true });
});

test('a container that sees its part of the hierarchy on version 2', () => {
  const mount = '613 601 0:26 /docker/0a1b /sys/fs/cgroup rw - cgroup2 cgroup rw';
  assert.deepEqual(findPlaces('0::/docker/0a1b\n', mount).unified, { folder: '/sys/fs/cgroup', isHighest: true });
  const inner = { folder: '/sys/fs/cgroup/quartermaster-server', isHighest: false };
  assert.deepEqual(findPlaces('0::/docker/0a1b/quartermaster-server\n', mount).unified, inner);
});

test('a group outside of what is mounted is not found', () => {
  assert.equal(findPlaces('0::/../other\n', unifiedMount).unified, undefined);
  const elsewhere = '613 601 0:26 /docker/0a1b /sys/fs/cgroup rw - cgroup2 cgroup rw';
  assert.equal(findPlaces('0::/docker/0a1bc\n', elsewhere).unified, undefined);
});

test('version 1 beside a version 2 without controllers', () => {
  const groups = '12:pids:/app\n5:cpu,cpuacct:/app\n4:memory:/app/inner\n1:name=systemd:/\n0::/\n';
  const mounts = [
    '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct',
    '35 31 0:32 /app /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
    '39 31 0:36 / /sys/fs/cgroup/my\\040pids rw - cgroup cgroup rw,pids',
    '41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
  ];
  assert.deepEqual(findPlaces(groups, mounts.join('\n')), {
    unified: { folder: '/sys/fs/cgroup/unified', isHighest: true },
    byController: {
      pids: { folder: '/sys/fs/cgroup/my pids/app', isHighest: false },
      cpu: { folder: '/sys/fs/cgroup/cpu,cpuacct/app', isHighest: false },
      memory: { folder: '/sys/fs/cgroup/memory/inner', isHighest: false },
    },
  });
});

test('a machine without control groups', () => {
  assert.deepEqual(findPlaces('', '20 1 0:5 / / rw - ext4 /dev/vda rw\nnonsense\n'), {
    unified: undefined,
    byController: {},
  });
});
