// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// WriteLFTs writes forwarding tables with the same bytes as OpenSM in opensm-lfts.dump (osm_dump.c, dump_ucast_lfts).
// It writes the switches of the subnet whose table is known, in the order of their index. It omits entries with a port
// that the switch does not have. O(switches x LIDs).
func WriteLFTs(w io.Writer, t *fabric.Tables) error {
	b := bufio.NewWriterSize(w, 1<<16)
	owners := lftOwners(t)
	for s := range t.Fabric.NumSwitches() {
		if !t.Known[s] || !t.Fabric.SwitchNode(s).InSubnet {
			continue
		}
		if err := writeLFT(b, t, s, owners); err != nil {
			return fmt.Errorf("write forwarding tables: %w", err)
		}
	}
	return flush(b, "forwarding tables")
}

func writeLFT(b *bufio.Writer, t *fabric.Tables, sw fabric.SwitchIndex, owners []string) error {
	node, top := t.Fabric.SwitchNode(sw), int(t.Top[sw])
	_, err := fmt.Fprintf(b, "Unicast lids [0-%d] of switch Lid %d guid 0x%016x ('%s'):\n",
		top, t.Fabric.SwitchLID(sw), node.GUID, printDesc(node.Desc))
	if err != nil {
		return err
	}
	row := t.LFT.Row(sw)
	for lid := 1; lid <= top && lid < len(row); lid++ {
		port := row[lid]
		if port > node.NumPorts {
			continue
		}
		line := append(b.AvailableBuffer(), "0x"...)
		line = appendHex16(line, uint16(lid), lowerHex)
		line = append(line, ' ')
		line = appendDecimal3(line, port)
		line = append(line, owners[lid]...)
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(b, "%d lids dumped\n", top)
	return err
}

// lftOwners returns, by LID, the text that the dump contains about the port with this LID.
func lftOwners(t *fabric.Tables) []string {
	var top uint16
	for _, v := range t.Top {
		top = max(top, v)
	}
	owners := make([]string, int(top)+1)
	last, text := fabric.PortIndex(fabric.None), ""
	for lid := range owners {
		switch e := t.Fabric.PortByLID(uint16(lid)); {
		case e == fabric.None:
			owners[lid] = " # unknown node and type\n"
		default:
			if e != last {
				p := &t.Fabric.Ports[e]
				n := &t.Fabric.Nodes[p.Node]
				text = fmt.Sprintf(" # %s portguid 0x%016x: '%s'\n", nodeTypeWords(n.Type), p.GUID, printDesc(n.Desc))
				last = e
			}
			owners[lid] = text
		}
	}
	return owners
}

// nodeTypeWords returns the name of a node type in OpenSM's dumps (osm_helper.c).
func nodeTypeWords(t mad.NodeType) string {
	switch t {
	case mad.NodeCA:
		return "Channel Adapter"
	case mad.NodeSwitch:
		return "Switch"
	case mad.NodeRouter:
		return "Router"
	}
	return "UNKNOWN"
}

// printDesc returns a node description as OpenSM prints it (cl_nodenamemap.c, clean_nodedesc). The text ends at the
// first NUL and after 63 bytes. A space replaces each byte that is not a printable ASCII character.
func printDesc(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	s = s[:min(len(s), 63)]
	b := []byte(s)
	for i, c := range b {
		if c < 0x20 || c > 0x7e {
			b[i] = ' '
		}
	}
	return string(b)
}

const (
	lowerHex = "0123456789abcdef"
	upperHex = "0123456789ABCDEF"
)

func appendHex16(b []byte, v uint16, digits string) []byte {
	return append(b, digits[v>>12], digits[v>>8&15], digits[v>>4&15], digits[v&15])
}

func appendDecimal3(b []byte, v uint8) []byte {
	return append(b, '0'+v/100, '0'+v/10%10, '0'+v%10)
}

func appendDecimal2(b []byte, v uint8) []byte {
	if v < 10 {
		b = append(b, '0')
	}
	return strconv.AppendUint(b, uint64(v), 10)
}

// flush writes buffered data and returns the first error of all writes.
func flush(b *bufio.Writer, file string) error {
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
