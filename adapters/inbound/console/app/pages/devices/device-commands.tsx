import { useRead } from '../../data.ts';
import { meanings, messages } from '../../language.ts';
import { Copy } from '../../parts/dialogs/action.tsx';
import { Answer, Empty } from '../../parts/display/answer.tsx';
import { Card } from '../../parts/display/facts.tsx';
import { plain, Text } from '../../parts/display/text.tsx';

export const m = messages(
  {
    commands: 'Enrol',
    noCommands: 'No commands for this device',
    noCommandsNext: 'The device has no secrets to enrol with, or your role does not allow you to see them.',
    pasteLead: 'Paste these commands into a shell, one after the other. They need only OpenSSL and curl.',
  },
  {
    commands: 'Anmelden',
    noCommands: 'Keine Befehle für dieses Gerät',
    noCommandsNext: 'Das Gerät hat keine Geheimnisse, oder Ihre Rolle erlaubt nicht, sie zu sehen.',
    pasteLead: 'Fügen Sie diese Befehle nacheinander in eine Shell ein. Sie brauchen nur OpenSSL und curl.',
  },
);

/** The titles of the commands by name, which the API never changes. */
const titleOf = meanings(
  {
    key: 'Generate a key and a certificate request',
    ca: 'Fetch the CA certificates, without verification: compare them with those of `postern ca export`',
    est_idevid: 'Enrol over EST with the IDevID certificate (idevid.pem, idevid.key)',
    est: 'Enrol over EST with the password',
    est_renew: 'Renew the certificate over EST',
    rest: 'Enrol over REST with the password',
    rest_renew: 'Renew the certificate over REST',
    cmp_idevid: 'Enrol over CMP with the IDevID certificate (idevid.pem, idevid.key)',
    cmp: 'Enrol over CMP with the shared secret, and fetch the root CA certificate',
    cmp_renew: 'Renew the certificate over CMP',
  },
  {
    key: 'Schlüssel und Zertifikatsantrag erzeugen',
    ca: 'CA-Zertifikate ungeprüft herunterladen: Vergleichen Sie sie mit der Ausgabe von `postern ca export`',
    est_idevid: 'Über EST mit dem IDevID-Zertifikat anmelden (idevid.pem, idevid.key)',
    est: 'Über EST mit dem Kennwort anmelden',
    est_renew: 'Zertifikat über EST erneuern',
    rest: 'Über REST mit dem Kennwort anmelden',
    rest_renew: 'Zertifikat über REST erneuern',
    cmp_idevid: 'Über CMP mit dem IDevID-Zertifikat anmelden (idevid.pem, idevid.key)',
    cmp: 'Über CMP mit dem gemeinsamen Geheimnis anmelden und das Root-CA-Zertifikat herunterladen',
    cmp_renew: 'Zertifikat über CMP erneuern',
  },
);

interface CommandLines {
  readonly commands: Readonly<Record<string, string>>;
  readonly titles: Readonly<Record<string, string>>;
}

/** Lines for a shell with which the device enrols. */
export function DeviceCommands({ id }: { readonly id: number }) {
  const asked = useRead<CommandLines>(`/api/devices/${id}/commands/`);
  return <Answer of={asked}>{(of) => <CommandList of={of} />}</Answer>;
}

function CommandList({ of: { commands, titles } }: { readonly of: CommandLines }) {
  const lines = Object.entries(commands).map(([name, line]) => ({
    title: titleOf(name) ?? titles[name] ?? name,
    line,
  }));
  if (lines.length === 0) return <Empty title={m('noCommands')} next={m('noCommandsNext')} />;
  return (
    <Card title={m('commands')}>
      <p class="lead">{m('pasteLead')}</p>
      <ol class="steps">
        {lines.map(({ title, line }) => (
          <li key={title}>
            <header>
              <h3>
                <Text of={title} />
              </h3>
              <Copy text={line} label={plain(title)} />
            </header>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
            <pre tabIndex={0}>{line}</pre>
          </li>
        ))}
      </ol>
    </Card>
  );
}
