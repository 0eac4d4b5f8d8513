// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/sys/unix"
)

// TestAccess refuses plain HTTP on other addresses, and serves with TLS and a password.
func TestAccess(t *testing.T) {
	for address, want := range map[string]error{
		"127.0.0.1:1": nil, "[::1]:1": nil, "localhost:1": nil, "0.0.0.0:1": ErrOpen, "[::]:1": ErrOpen,
		"192.0.2.1:1": ErrOpen, "login1:1": ErrOpen,
	} {
		if _, err := (&Access{}).check(t.Context(), address); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", address, err, want)
		}
		if _, err := (&Access{Insecure: true}).check(t.Context(), address); err != nil {
			t.Errorf("%s, insecure: %v", address, err)
		}
	}
	access := Access{Web: webFile(t)}
	scheme, err := access.check(t.Context(), "0.0.0.0:1")
	if err != nil || scheme != "https" {
		t.Fatalf("%s %v", scheme, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(l, access.Web, long)
	defer s.Close()
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate of this test
	}}
	for password, want := range map[string]int{"right": http.StatusOK, "wrong": http.StatusUnauthorized} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+l.Addr().String()+Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("prometheus", password)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("password %s: status %d, want %d", password, resp.StatusCode, want)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Access{Web: pipe}).check(t.Context(), "127.0.0.1:1"); err == nil {
		t.Error("reads a pipe")
	}
	if _, err := (&Access{Web: filepath.Join(t.TempDir(), "none")}).check(t.Context(), "127.0.0.1:1"); err == nil {
		t.Error("a missing file is accepted")
	}
}

// webFile writes a configuration with a certificate, and with the password "right" of the user prometheus.
func webFile(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("right"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return write("web.yml", fmt.Appendf(nil,
		"tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\nbasic_auth_users:\n  prometheus: %s\n", hash))
}

// TestIdleConnections scrapes while a thousand other connections send nothing.
func TestIdleConnections(t *testing.T) {
	_, url := serve(t, long)
	for range 1000 {
		c, err := net.Dial("tcp", url[len("http://"):])
		if err != nil {
			t.Skipf("this machine permits fewer connections: %v", err)
		}
		defer c.Close()
	}
	if resp, body, err := fetch(t, http.MethodGet, url+Path, nil); err != nil || resp.StatusCode != http.StatusOK ||
		len(body) != 10000*len(line) {
		t.Errorf("%v, status %d, %d bytes", err, resp.StatusCode, len(body))
	}
}
