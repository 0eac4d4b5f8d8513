// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestKeyOfAProtectedSubnet commits to a subnet that answers to its M_Key alone, and tells it in every PortInfo to who
// has it: no capture and nothing of the history holds it. Without the key nothing is read.
func TestKeyOfAProtectedSubnet(t *testing.T) {
	const key = 0x0123456789abcdef
	n := newSubnet(t, "fattree:2,4")
	n.protect(key)
	n.Client = new(mad.Fast())
	n.Client.MKey = key
	s := n.Console()
	capture := filepath.Join(n.Dir, "capture")
	if err := s.Connection().Capture(capture, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	n.Read(s)
	n.Route(s, sessiontest.Engines[0]...)
	if _, err := commits.Commit(t.Context(), s, yes); err != nil {
		t.Fatal(err)
	}
	if _, _, err := commits.Rollback(t.Context(), s, 0, yes); err != nil {
		t.Fatal(err)
	}
	n.Leave()
	files, err := filepath.Glob(filepath.Join(n.Dir, "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]byte{
			binary.BigEndian.AppendUint64(nil, key), binary.LittleEndian.AppendUint64(nil, key),
			fmt.Appendf(nil, "%x", key), fmt.Appendf(nil, "%X", key), fmt.Append(nil, key),
		} {
			if bytes.Contains(b, form) {
				t.Errorf("%s holds the key as %q", file, form)
			}
		}
	}
	b, err := os.ReadFile(capture)
	if err != nil || len(b) < 100*mad.Size {
		t.Errorf("%d bytes were captured, %v", len(b), err)
	}
	n.Client.MKey, n.Client.Tries = 0, 1
	if conn, err := n.Open(); err == nil {
		c, err := mad.NewClient(conn, *n.Client)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := c.PortInfo(t.Context(), mad.Path{}, 1); err == nil {
			t.Error("a port answers without its key")
		}
	}
}

// protect gives an M_Key to all ports, without which they do not answer.
func (n *subnet) protect(key uint64) {
	n.T.Helper()
	conn, err := n.Open()
	if err != nil {
		n.T.Fatal(err)
	}
	c, err := mad.NewClient(conn, mad.Fast())
	if err != nil {
		n.T.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	res, err := sweep.Full(n.T.Context(), c, sweep.Options{})
	if err != nil {
		n.T.Fatal(err)
	}
	f := res.Fabric
	routes := sweep.NewRoutes(f)
	for _, e := range f.EndPorts {
		path, err := routes.ToPort(e)
		if err != nil {
			n.T.Fatal(err)
		}
		info, err := c.PortInfo(n.T.Context(), path, f.Ports[e].Num)
		if err == nil {
			info.MKey, info.MKeyProtect = key, 2
			info.PortState, info.PhysState, info.LinkDownDefault = 0, 0, 0
			_, err = mad.Set(n.T.Context(), c, path, uint32(f.Ports[e].Num), info)
		}
		if err != nil {
			n.T.Fatal(err)
		}
	}
}
