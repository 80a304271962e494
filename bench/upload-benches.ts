import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { diskRate, durableFileRate } from './floors.ts';
import { runLoad } from './load.ts';
import { loopDelay, peakMemory, resetPeakMemory, type Service, startService } from './processes.ts';
import type { Row } from './table.ts';
import { smallUpload, streamUpload } from './upload-client.ts';

const mebibyte = 1024 * 1024;

/** Measures one large upload, many uploads of medium size and very many small ones. The floor is the disk alone. */
export async function uploadBenches(folder: string): Promise<Row[]> {
  await mkdir(folder, { recursive: true });
  const service = await startService(folder, { QUARTERMASTER_LOG_LEVEL: 'info' });
  try {
    return [await oneLarge(service, folder), await manyMiddle(service, folder), await smallOnes(service, folder)];
  } finally {
    await service.stop();
  }
}

async function watched<T>(service: Service, work: () => Promise<T>): Promise<[T, { loopP99: number; peakMb: number }]> {
  await loopDelay(service);
  resetPeakMemory(service.pid);
  const result = await work();
  return [result, { loopP99: await loopDelay(service), peakMb: peakMemory(service.pid) }];
}

/**
 * Alternates the service and the floor three times, because the speed of the disk varies. The round with the median
 * ratio counts.
 */
async function oneLarge(service: Service, folder: string): Promise<Row> {
  const block = textBlock(4 * mebibyte);
  const [rounds, load] = await watched(service, async () => {
    const done: Array<{ rate: number; floor: number; status: number }> = [];
    for (let round = 0; round < 3; round++) {
      const floor = await diskRate(folder, 1024);
      block.write(`round ${round}`);
      const upload = await streamUpload(service.filesUrl, service.key, { bytes: 1024 * mebibyte, block });
      done.push({ rate: 1024 / upload.seconds, floor, status: upload.status });
    }
    return done.sort((a, b) => a.rate / a.floor - b.rate / b.floor);
  });
  const { rate = 0, floor = 1, status = 0 } = rounds[1] ?? {};
  return {
    bench: 'upload 1 × 1 GiB',
    ours: `${rate.toFixed(0)} MiB/s (status ${status})`,
    floor: `dd ${floor.toFixed(0)} MiB/s`,
    bar: `≥ 0.7 of dd: ${(rate / floor).toFixed(2)}; peak ≤ 200 MiB`,
    met: status === 200 && rate >= 0.7 * floor && load.peakMb <= 200,
    ...load,
  };
}

async function manyMiddle(service: Service, folder: string): Promise<Row> {
  const floor = await diskRate(folder, 1024);
  const started = performance.now();
  const [statuses, load] = await watched(service, () =>
    Promise.all(
      Array.from({ length: 64 }, async () => {
        // Each upload has its own content; otherwise the service would store only one of them.
        const block = textBlock(16 * mebibyte);
        return (await streamUpload(service.filesUrl, service.key, { bytes: 16 * mebibyte, block })).status;
      }),
    ),
  );
  const rate = 1024 / ((performance.now() - started) / 1000);
  const failed = statuses.filter((status) => status !== 200).length;
  return {
    bench: 'upload 64 × 16 MiB at once',
    ours: `${rate.toFixed(0)} MiB/s (${failed} failed)`,
    floor: `dd ${floor.toFixed(0)} MiB/s`,
    bar: `none set: ${(rate / floor).toFixed(2)} of dd`,
    met: failed === 0,
    ...load,
  };
}

async function smallOnes(service: Service, folder: string): Promise<Row> {
  const floor = await durableFileRate(folder, 32, 5);
  const content = Buffer.from(randomBytes(4096).toString('hex'));
  const [measured, load] = await watched(service, () =>
    runLoad({
      url: service.filesUrl,
      // The stamp, which is written just before each request is sent, makes each content different.
      request: smallUpload(service.key, content),
      stamp: content.subarray(0, 16),
      connections: 32,
      seconds: 8,
    }),
  );
  return {
    bench: 'upload 8 KiB, 32 connections',
    ours: `${measured.perSecond.toFixed(0)}/s, p99 ${measured.p99.toFixed(1)} ms (${measured.failures} failed)`,
    floor: `fsync+rename+fsync dir ${floor.toFixed(0)}/s`,
    bar: `≥ 1,500/s or ≥ 0.6 of the floor: ${(measured.perSecond / floor).toFixed(2)}`,
    met: measured.failures === 0 && (measured.perSecond >= 1500 || measured.perSecond >= 0.6 * floor),
    ...load,
  };
}

/** Returns text that does not repeat within a block, so that it is a .txt file and no file system compresses it. */
function textBlock(bytes: number): Buffer {
  return Buffer.from(randomBytes(bytes / 2).toString('hex'));
}
