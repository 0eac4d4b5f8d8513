// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"regexp"

	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/internal/base/files"
)

// head is the number of bytes at the beginning of a file from which its format is detected.
const head = 64 << 10

const expected = "a topology file of ibnetdiscover or ibsim, a list of ports of iblinkinfo or ibnetdiscover -p, " +
	"opensm-subnet.lst, a folder or db_csv of ibdiagnet or a snapshot"

// format is the detected format of a file. The text is used in messages.
type format string

const (
	topology   format = "topology"
	subnetList format = "opensm-subnet.lst"
	saved      format = "a snapshot"
	portList   format = "a list of ports of iblinkinfo or ibnetdiscover -p"

	database format = "a database of ibdiagnet (db_csv)"
	archive  format = "an archive of a folder of ibdiagnet or of an incident"

	lfts      format = "forwarding tables (opensm-lfts.dump or ibroute)"
	fdbs      format = "forwarding tables (opensm.fdbs)"
	mcfdbs    format = "multicast tables (opensm.mcfdbs)"
	lidMatrix format = "a lid matrix (opensm-lid-matrix.dump)"
	sl2vl     format = "an SL2VL dump (opensm-sl2vl.dump)"

	cache  format = "ibnetdiscover's binary cache (--cache), which ibnetdiscover --load-cache FILE prints as text"
	empty  format = "the file is empty"
	binary format = "binary data"
)

// kinds maps formats to the names that the command load uses.
var kinds = map[format]string{
	topology: "topology", portList: "topology", database: "topology", archive: "topology", subnetList: "subnet",
	saved: "snapshot",
	lfts:  "lfts", fdbs: "fdbs", mcfdbs: "mcfdbs", lidMatrix: "lid-matrix", sl2vl: "sl2vl",
}

// signatures are patterns for the first line that is neither empty nor a comment. Topology files have no signature,
// because they may begin with any text.
var signatures = []struct {
	format format
	line   *regexp.Regexp
}{
	{subnetList, regexp.MustCompile(`^\{ (SW|CA|Rt)(-SM)? Ports:`)},
	{lfts, regexp.MustCompile(`^(Unicast lids|Multicast mlids|Lids) \[`)},
	{fdbs, regexp.MustCompile(`^[A-Za-z0-9_]*dump_ucast_routes: Switch`)},
	{mcfdbs, regexp.MustCompile(`^Switch 0x[0-9a-fA-F]+$`)},
	{lidMatrix, regexp.MustCompile(`^Switch: guid 0x`)},
	{portList, regexp.MustCompile(ports)},
	{sl2vl, regexp.MustCompile(`^(Switch|Channel Adapter|Router) 0x[0-9a-fA-F]+, base LID`)},
	{"adaptive-routing groups (far), which are read with their folder", regexp.MustCompile(`^File version: \d`)},
	{database, databaseLine},
	{"a list of GUIDs or LIDs", regexp.MustCompile(`^0x[0-9a-fA-F]+(\s|:|$)`)},
}

// databaseLine matches the first line of an ibdiagnet database. It also matches the first line of a database whose
// beginning is missing.
var databaseLine = regexp.MustCompile(`^(START_[A-Z0-9_]+$|(?i:"?Node(Desc|Guid)"?,))`)

// ports matches the lines that identify a list of ports.
const ports = `^(Switch: 0x[0-9a-fA-F]+ .*:|(CA|Router): .*:|(SW|CA|RT) +\d+ +\d+ 0x[0-9a-fA-F]{16} .*|` +
	`0x[0-9a-fA-F]{16} ".*" +\d+ +\d+\[.*)\r?$`

// The patterns that identify a file whose first line is damaged.
var (
	portLine   = regexp.MustCompile(`(?m)` + ports)
	recordLine = regexp.MustCompile(`(?m)^(Switch|Ca|Hca|Rt)\s*\d+\s*"`)
)

// cacheMagic is the beginning of a cache file that ibnetdiscover 44 wrote on a little-endian machine.
const cacheMagic = "\x2b\x83\xe7\x8f"

func sniff(head []byte) format {
	if len(bytes.TrimSpace(head)) == 0 {
		return empty
	}
	if bytes.HasPrefix(head, []byte(snapshot.Family)) {
		return saved
	}
	if bytes.HasPrefix(head, []byte(cacheMagic)) {
		return cache
	}
	if bytes.HasPrefix(head, files.GzipMagic) {
		return sniffPacked(unpacked(head))
	}
	if isTar(head) {
		return archive
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return binary
	}
	first := firstLine(bytes.TrimPrefix(head, []byte("\ufeff")))
	for _, s := range signatures {
		if s.line.Match(first) {
			return s.format
		}
	}
	if portLine.Match(head) && !recordLine.Match(head) {
		return portList
	}
	return topology
}

// sniffPacked detects the format of a file compressed with gzip.
func sniffPacked(head []byte) format {
	switch {
	case isTar(head):
		return archive
	case databaseLine.Match(firstLine(bytes.TrimPrefix(head, []byte("\ufeff")))):
		return database
	}
	return binary
}

// firstLine returns the first line that is neither empty nor a comment.
func firstLine(text []byte) []byte {
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return line
		}
	}
	return nil
}
