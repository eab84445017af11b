/** German texts of the errors of the Management API, by their stable code. `{name}` is a value of the error. */
export const germanErrors: Readonly<Record<string, string>> = {
  account_required: 'Nur Benutzer und Dienstkonten können entscheiden.',
  already_decided: 'Dieses Konto hat bereits über den Antrag entschieden.',
  already_onboarded:
    'Das Gerät ist bereits aufgenommen. Setzen Sie die Aufnahme zurück, um es erneut aufzunehmen.',
  already_taken: 'Dieser Wert ist bereits vergeben.',
  approval_changed:
    'Der Antrag oder sein Ergebnis hat sich geändert, seit Sie ihn gesehen haben. Laden Sie die Seite neu.',
  approval_not_pending: 'Über diesen Antrag kann nicht mehr entschieden werden.',
  backup_running: 'Es läuft bereits eine Sicherung.',
  backups_not_configured: 'Auf diesem Gateway sind keine Sicherungen eingerichtet.',
  ca_has_issued: 'Die Zertifizierungsstelle hat bereits Zertifikate ausgestellt ({certificates}).',
  ca_not_active: 'Die Zertifizierungsstelle ist nicht aktiv.',
  certificate_expired: 'Das Zertifikat ist abgelaufen.',
  certificate_not_issued: 'Dieses Zertifikat wurde nie ausgestellt.',
  certificate_not_on_hold: 'Nur ein ausgesetztes Zertifikat kann wieder freigegeben werden.',
  certificate_of_other_ca: 'Eine andere Zertifizierungsstelle hat dieses Zertifikat bereits.',
  certificate_on_hold: 'Das Zertifikat ist bereits ausgesetzt.',
  certificate_revoked: 'Das Zertifikat ist gesperrt.',
  content_too_large: 'Die Anfrage ist zu groß.',
  create_only: 'Dieser Wert kann nur beim Anlegen gesetzt werden.',
  credential_active: 'Dieses TLS-Zertifikat ist in Benutzung. Aktivieren Sie zuerst ein anderes.',
  current_password_wrong: 'Das bisherige Kennwort ist falsch.',
  default_domain: 'Die Standarddomäne kann weder umbenannt noch gelöscht werden.',
  device_blocked: 'Das Gerät ist blockiert.',
  device_custodian:
    'Dieses Konto hat das Gerät „{device}“ angelegt oder geändert oder seine Geheimnisse gesehen. Ein anderes Konto muss den Antrag genehmigen.',
  device_in_other_domain: 'Das Gerät gehört zu einer anderen Domäne.',
  device_not_blocked: 'Das Gerät ist nicht blockiert.',
  import_ended: 'Der Import ist bereits beendet.',
  import_running: 'Der Import läuft noch. Halten Sie ihn zuerst an.',
  last_administrator: 'Dies ist der letzte aktive Administrator. Legen Sie zuerst einen weiteren an.',
  no_onboarding_config: 'Das Gerät hat keine Konfiguration zur Aufnahme.',
  no_such_record: 'Den gewählten Eintrag gibt es nicht mehr.',
  not_found: 'Diesen Eintrag gibt es nicht oder nicht mehr.',
  not_tls_server: 'Nur ein TLS-Serverzertifikat kann aktiviert werden.',
  own_request: 'Sie können nicht über Ihren eigenen Antrag entscheiden.',
  password_change_required: 'Ihr Kennwort wurde von der Administration gesetzt. Wählen Sie zuerst ein neues.',
  password_characters: 'Das Kennwort enthält unzulässige Zeichen oder nur Leerzeichen.',
  password_common: 'Dieses Kennwort ist eines der häufigsten. Wählen Sie ein anderes.',
  password_is_user_name: 'Das Kennwort darf nicht der Benutzername sein.',
  password_length: 'Ein Kennwort hat {shortest} bis {longest} Zeichen.',
  password_unchanged: 'Das neue Kennwort muss sich vom bisherigen unterscheiden.',
  permission_missing: 'Dazu ist die Berechtigung „{permission}“ nötig.',
  permission_not_held: 'Sie haben die Berechtigung „{permission}“ selbst nicht.',
  private_key_not_available:
    'Es gibt keinen privaten Schlüssel zum Abholen: Er wurde bereits abgeholt, oder Postern hat ihn nicht erzeugt.',
  profile_built_in: 'Dieses Profil ist fest eingebaut: Es kann weder umbenannt noch gelöscht werden.',
  profile_offered: 'Diese Domänen bieten das Profil noch an: {domains}.',
  record_changed: 'Der Eintrag wurde inzwischen geändert oder gelöscht. Laden Sie die Seite neu.',
  required: 'Dieses Feld ist erforderlich.',
  role_protected: 'Diese Rolle ist geschützt.',
  root_not_revocable:
    'Ein Wurzelzertifikat kann nicht gesperrt werden. Entfernen Sie es aus den Truststores.',
  security_level_not_met:
    'Die Sicherheitsstufe „{level}“ ist noch nicht möglich. Die Hindernisse stehen unter Einstellungen, Sicherheitsstufe.',
  still_used: 'Der Eintrag wird noch verwendet: {uses}.',
  token_not_valid: 'Ihre Sitzung ist abgelaufen. Melden Sie sich erneut an.',
  too_many_failed_logins: 'Zu viele fehlgeschlagene Anmeldungen.',
  too_many_pending_requests: 'Zu viele Anträge dieses Geräts warten auf eine Genehmigung.',
  too_many_webhooks: 'Es kann höchstens {most} Webhooks geben.',
  truststore_used_for_idevids: 'Der Truststore wird noch für IDevIDs verwendet.',
  unknown_field: 'Dieses Feld ist unbekannt.',
  unsupported_media_type: 'Dieses Format wird nicht unterstützt.',
  webhook_inactive: 'Der Webhook ist nicht aktiv.',
  wrong_credentials: 'Benutzername oder Kennwort ist falsch.',
};

/** What the values of `still_used` count. */
const germanKinds: Readonly<Record<string, string>> = {
  approval: 'Anträge',
  approvalDecision: 'Entscheidungen',
  approvalPolicy: 'Genehmigungsrichtlinien',
  certificate: 'Zertifikate',
  credential: 'TLS-Zertifikate und Signaturschlüssel',
  device: 'Geräte',
  deviceImport: 'Geräteimporte',
  devidRegistration: 'Registrierungen',
  domain: 'Domänen',
  issuingCa: 'Zertifizierungsstellen',
  onboardingConfig: 'Konfigurationen zur Aufnahme',
  profile: 'Zertifikatprofile',
  serviceAccount: 'Dienstkonten',
  signedMessage: 'signierte Nachrichten',
  transaction: 'Transaktionen',
  user: 'Benutzer',
  webhook: 'Webhooks',
};

export type ErrorValues = Readonly<Record<string, unknown>>;

/** Returns the German text of an error; undefined for a code without one, whose English text is then shown. */
export function germanError(code: unknown, values: ErrorValues = {}): string | undefined {
  if (typeof code !== 'string' || !Object.hasOwn(germanErrors, code)) return undefined;
  const uses = Object.entries(values)
    .map(([kind, count]) => `${germanKinds[kind] ?? kind} (${count})`)
    .join(', ');
  const all: ErrorValues = { ...values, uses: uses || 'von anderen Einträgen' };
  return germanErrors[code]?.replace(/\{(\w+)\}/g, (_, name: string) => String(all[name] ?? '…'));
}

/**
 * Reads an Error-Codes header (a Dictionary of RFC 9651, as the Management API writes it): the German text by field. A field
 * whose code has no text is left out.
 */
export function germanFieldErrors(header: string | null): Readonly<Record<string, string>> {
  const texts = (header ?? '').split(', ').flatMap((member) => {
    const [, field, code, parameters = ''] = /^([a-z]\w*)=([a-z]\w*)((?:;\w+=-?\d+)*)$/.exec(member) ?? [];
    const values = Object.fromEntries(parameters.split(';').map((one) => one.split('=')));
    const text = germanError(code, values);
    return field !== undefined && text !== undefined ? [[field, text]] : [];
  });
  return Object.fromEntries(texts);
}
