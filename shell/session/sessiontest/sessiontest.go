// SPDX-License-Identifier: Apache-2.0

// Package sessiontest opens sessions for tests.
package sessiontest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// Open opens a source and reads its subnet. The session is closed at the end of the test.
func Open(t *testing.T, from string) *session.Session {
	t.Helper()
	return OpenIn(t, from, "")
}

// OpenIn is [Open] with a folder for the history.
func OpenIn(t *testing.T, from, dir string) *session.Session {
	t.Helper()
	return OpenWith(t, from, session.Options{StateDir: dir})
}

// OpenWith is [Open] with options.
func OpenWith(t *testing.T, from string, opt session.Options) *session.Session {
	t.Helper()
	src, err := source.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(context.Background(), src, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

// TwoSwitches is a subnet of two switches, each with a host.
const TwoSwitches = `
Hca	1 "H1"		# "node-1"
[1] "S1"[1]

Hca	1 "H2"		# "node-2"
[1] "S2"[1]

Switch	8 "S1"		# "edge/7"
[1] "H1"[1]
[8] "S2"[8]

Switch	8 "S2"		# "core"
[1] "H2"[1]
[8] "S1"[8]
`

// NetFile writes a topology in the format of ibsim to a file and returns the path.
func NetFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Ibsim starts ibsim with the subnet of a simulated source.
func Ibsim(t *testing.T, from string) *ibsimtest.Sim {
	t.Helper()
	var net bytes.Buffer
	if err := ibnet.Write(&net, Open(t, from).State().Live.Fabric, ibnet.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return ibsimtest.Start(t, NetFile(t, net.String()))
}
