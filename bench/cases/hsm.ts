import { pin, startSoftHsm } from '#tests/fixtures/tokens.ts';
import { type Measured, measure, run } from '../measure.ts';
import { restEnrolments } from '../requests.ts';
import { startServer } from '../server.ts';
import { createSite } from '../site.ts';
import { type Case, connections, deviceCount, loopback, microseconds, times } from './case.ts';

/** Compares the same enrolments with the CA key in SoftHSM and in a key file, in turns. */
export const hsmCase: Case = {
  name: 'softhsm',
  async run(load, { warmUp, perRound, rounds }) {
    const hsm = startSoftHsm();
    try {
      const environment = Object.entries(hsm.environment).map(([name, value]) => `${name}=${value}`);
      const settings = { plugin: 'pkcs11', library: hsm.module.library, token: 'token', pin };
      const lines = Object.entries({ ...settings, environment }).map(
        ([key, value]) => `${key} = ${JSON.stringify(value)}`,
      );
      // The first start creates the CA keys in the first key store.
      const keyStores = `[keys.hsm]\n${lines.join('\n')}\n[keys.files]\nplugin = "keyfile"\n`;
      using inToken = await createSite(deviceCount, loopback + keyStores);
      using inFile = await createSite(deviceCount, loopback);
      await using token = await startServer(inToken);
      await using file = await startServer(inFile);
      const subjects = [
        { server: token, site: inToken },
        { server: file, site: inFile },
      ].map(({ server, site }) => ({
        server,
        job: { port: server.port, connections, count: perRound, requests: restEnrolments(site.devices) },
      }));
      for (const { job } of subjects) await run(load, { ...job, count: warmUp });
      const [ofToken, ofFile] = (await measure(load, subjects, rounds)) as [Measured, Measured];
      return [
        {
          title: 'REST enrol, SQLite: SoftHSM compared to a key file',
          measured: times(ofToken.cpu / ofFile.cpu),
          remark: `${microseconds(ofToken.cpu)} against ${microseconds(ofFile.cpu)}; ${ofToken.rate.toFixed(0)}/s against ${ofFile.rate.toFixed(0)}/s`,
          figures: { token: ofToken, file: ofFile },
        },
      ];
    } finally {
      hsm.remove();
    }
  },
};
