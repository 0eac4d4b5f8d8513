// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/internal/base/files"
)

// writeForACM writes the records of the selected sources in the format that ibacm reads at its start (route_prov
// opensm_full_v1). Each port has a section with its GUID and LID. The section of a selected source has a line for each
// destination.
func writeForACM(ctx context.Context, w io.Writer, v *pathdb.View, sources func(pathdb.PortIndex) bool) error {
	b := bufio.NewWriter(w)
	for i, p := range v.Ports() {
		if p.Flags&pathdb.Gone != 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		writeSection(b, v, i, sources(i))
	}
	return b.Flush()
}

// writeSection writes the section of a port, with its records if the argument records is set. An error stays in b.
func writeSection(b *bufio.Writer, v *pathdb.View, i pathdb.PortIndex, records bool) {
	p, kind := v.Port(i), "Channel Adapter"
	switch {
	case p.Flags&pathdb.SwitchPort != 0:
		kind = "Switch"
	case p.Flags&pathdb.RouterPort != 0:
		kind = "Router"
	}
	_, _ = fmt.Fprintf(b, "%s 0x%016x, base LID %d, LMC %d\n", kind, p.GUID, p.LID, p.LMC)
	if !records {
		return
	}
	_, _ = fmt.Fprintln(b, "# LID : SL : MTU : RATE")
	var list []pathdb.Record
	for j := range v.Ports() {
		list, _ = v.Paths(list[:0], i, j, pathdb.Want{})
		for _, r := range list {
			if r.SLID == p.LID || p.LMC > 0 {
				_, _ = fmt.Fprintf(b, "0x%04X : %d : %d : %d\n", r.DLID, r.SL, r.MTU, r.Rate)
			}
		}
	}
	_, _ = fmt.Fprintln(b)
}

// digestLen is the length of a digest in bytes: the beginning of a SHA-256.
const digestLen = 16

// digestOf returns the digest of the section of a port, as paths acm writes it.
func digestOf(v *pathdb.View, i pathdb.PortIndex) string {
	var text strings.Builder
	b := bufio.NewWriter(&text)
	writeSection(b, v, i, true)
	_ = b.Flush()
	return digest(text.String())
}

func digest(section string) string {
	sum := sha256.Sum256([]byte(strings.TrimRight(section, "\n")))
	return hex.EncodeToString(sum[:digestLen])
}

// section is the section of a port with records in a file for ibacm.
type section struct {
	guid   uint64
	digest string
	lines  int // records
}

// readACM reads the sections with records of a file that paths acm wrote. The result named has the GUIDs of all
// sections.
func readACM(ctx context.Context, name string) (all []section, named map[uint64]bool, err error) {
	in, err := files.Open(ctx, name, files.List)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = in.Close() }()
	named = map[uint64]bool{}
	var text strings.Builder
	var now section
	end := func() {
		if strings.Contains(text.String(), "\n#") {
			now.digest = digest(text.String())
			all = append(all, now)
		}
		text.Reset()
	}
	scan, n := bufio.NewScanner(in), 0
	for scan.Scan() {
		n++
		line := strings.TrimRight(scan.Text(), " \r\t")
		isHead := strings.HasPrefix(line, "Channel Adapter 0x") || strings.HasPrefix(line, "Switch 0x") ||
			strings.HasPrefix(line, "Router 0x")
		switch {
		case isHead:
			end()
			head, _, _ := strings.Cut(line, ",")
			guid, err := strconv.ParseUint(head[strings.LastIndexByte(head, ' ')+1:], 0, 64)
			if err != nil {
				return nil, nil, fmt.Errorf("%s:%d: expected a GUID", fabric.Escape(name), n)
			}
			now, named[guid] = section{guid: guid}, true
		case line == "":
			continue
		case text.Len() == 0, line[0] != '#' && !strings.HasPrefix(line, "0x"):
			return nil, nil, fmt.Errorf("%s:%d: not a line of a file that paths acm writes", fabric.Escape(name), n)
		case line[0] != '#':
			now.lines++
		}
		text.WriteString(line + "\n")
	}
	end()
	if err := scan.Err(); err != nil {
		return nil, nil, fmt.Errorf("%s:%d: %w", fabric.Escape(name), n+1, err)
	}
	if all == nil {
		return nil, nil, fmt.Errorf("%s: no host with records", fabric.Escape(name))
	}
	return all, named, nil
}
