/**
 * Whether a test repeats its kills as often as `npm run proof -- --only kills` asks. Otherwise each stage of
 * the work gets one kill.
 */
export const repeatsKills = process.env.QUARTERMASTER_TEST_KILLS === 'all';
