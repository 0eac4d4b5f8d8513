// SPDX-License-Identifier: Apache-2.0

package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// TestKeyOfAProtectedSubnet commits to a subnet that answers to its M_Key alone, and tells it in every PortInfo to who
// has it: no capture and nothing of the history holds it. Without the key nothing is read.
func TestKeyOfAProtectedSubnet(t *testing.T) {
	const key = 0x0123456789abcdef
	n := newSubnet(t, "fattree:2,4", false)
	n.protect(key)
	n.client = new(mad.Fast())
	n.client.MKey = key
	s := n.console()
	capture := filepath.Join(n.dir, "capture")
	if err := s.conn.Capture(capture, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	n.read(s)
	n.route(s, ways[0]...)
	if _, err := s.Commit(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Rollback(t.Context(), 0, yes); err != nil {
		t.Fatal(err)
	}
	n.leave()
	files, err := filepath.Glob(filepath.Join(n.dir, "*"))
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
	n.client.MKey, n.client.Tries = 0, 1
	if conn, err := n.open(); err == nil {
		c, err := mad.NewClient(conn, *n.client)
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
	n.t.Helper()
	conn, err := n.open()
	if err != nil {
		n.t.Fatal(err)
	}
	c, err := mad.NewClient(conn, mad.Fast())
	if err != nil {
		n.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	res, err := sweep.Full(n.t.Context(), c, sweep.Options{})
	if err != nil {
		n.t.Fatal(err)
	}
	f := res.Fabric
	routes := sweep.NewRoutes(f)
	for _, e := range f.EndPorts {
		path, err := routes.ToPort(e)
		if err != nil {
			n.t.Fatal(err)
		}
		info, err := c.PortInfo(n.t.Context(), path, f.Ports[e].Num)
		if err == nil {
			info.MKey, info.MKeyProtect = key, 2
			info.PortState, info.PhysState, info.LinkDownDefault = 0, 0, 0
			_, err = mad.Set(n.t.Context(), c, path, uint32(f.Ports[e].Num), info)
		}
		if err != nil {
			n.t.Fatal(err)
		}
	}
}
