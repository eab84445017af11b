#!/bin/sh
# Records messages of `openssl cmp` 3.0.19 and of its mock server in the current directory, each named in README.md.
set -eu
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }
cmp() {
  name=$1
  shift
  openssl cmp -config '' -batch -verbosity 3 -use_mock_srv "$@" \
    -reqout "$name-1.req.der,$name-2.req.der,$name-3.req.der" \
    -rspout "$name-1.rsp.der,$name-2.rsp.der,$name-3.rsp.der"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in ca device server new; do key "$work/$name.key"; done
openssl req -new -x509 -key "$work/ca.key" -out "$work/ca.pem" -subj /O=Postern/CN=ca -days 36500
issue() {
  openssl req -new -key "$work/$1.key" -subj "/O=Postern/CN=$1" -out "$work/$1.csr"
  printf 'subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\nkeyUsage=digitalSignature\n' >"$work/ext"
  openssl x509 -req -in "$work/$1.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -set_serial "$2" \
    -extfile "$work/ext" -out "$work/$1.pem" -days 36500 2>/dev/null
}
issue device 0x0102030405
issue server 2
issue new 3

recipient='-recipient /O=Postern/CN=ca'
mac="-ref 4711 -secret pass:SiemensIT -srv_ref 4711 -srv_secret pass:SiemensIT"
signed="-cert $work/device.pem -key $work/device.key -extracerts $work/ca.pem -trusted $work/ca.pem
  -srv_cert $work/server.pem -srv_key $work/server.key -srv_trusted $work/ca.pem -rsp_extracerts $work/ca.pem"
enrol="-newkey $work/new.key -subject /O=Postern/CN=new -certout $work/out.pem -rsp_cert $work/new.pem"

# shellcheck disable=SC2086
{
  cmp ir-mac -cmd ir $recipient $mac $enrol -sans 'new.example' -days 30 -rsp_capubs "$work/ca.pem" -geninfo 1.2.3.4:int:5
  cmp ir-mac-sha512 -cmd ir $recipient $mac $enrol -digest sha512 -mac hmacWithSHA512 -implicit_confirm -grant_implicitconf
  cmp ir-signed -cmd ir $recipient $signed $enrol
  cmp cr-polled -cmd cr $recipient $signed $enrol -poll_count 1 -check_after 0
  cmp kur-signed -cmd kur $recipient $signed -newkey "$work/device.key" -certout "$work/out.pem" -rsp_cert "$work/device.pem"
  cmp p10cr-signed -cmd p10cr $recipient $signed -csr "$work/new.csr" -certout "$work/out.pem" -rsp_cert "$work/new.pem"
  cmp rr-signed -cmd rr $recipient $signed -oldcert "$work/device.pem" -revreason 1 -rsp_cert "$work/device.pem"
  cmp genm-mac -cmd genm $recipient $mac -infotype signKeyPairTypes
  cmp ir-raverified -cmd ir $recipient $mac $enrol -popo 0 -accept_raverified
  ! cmp ir-error -cmd ir $recipient $mac $enrol -send_error -failurebits 65537 -statusstring 'come back later'
}
openssl req -in "$work/new.csr" -outform DER -out new.csr.der
for name in ca device server; do openssl x509 -in "$work/$name.pem" -outform DER -out "$name.crt.der"; done
