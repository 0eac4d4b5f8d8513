// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"regexp"

	"example.org/ibconsole/fabric/formats/snapshot"
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

	cache       format = "ibnetdiscover's binary cache (--cache), which ibnetdiscover --load-cache FILE prints as text"
	difference  format = "a difference of two subnets (ibnetdiscover or iblinkinfo --diff)"
	nodeList    format = "a list of nodes without links (ibswitches, ibhosts, ibnodes or ibnetdiscover -l, -S, -H, -R)"
	onePath     format = "a single path (ibtracert)"
	perfquery   format = "counters of ports (perfquery)"
	errorList   format = "counters of ports (ibqueryerrors)"
	attributes  format = "attributes of a node or a port (smpquery)"
	records     format = "records of the subnet administration (saquery)"
	netDump     format = "a list of ports of ibdiagnet (net_dump)"
	localPorts  format = "the ports of one machine (ibstat or ibstatus)"
	managerLog  format = "a log of OpenSM"
	options     format = "options of OpenSM (opensm.conf)"
	partitions  format = "partitions of OpenSM (partitions.conf)"
	policy      format = "a policy of OpenSM (qos-policy.conf or pgrp_policy_file)"
	linkJSON    format = "counters of a port (mlxlink --json)"
	switchState format = "sensors and versions of a switch (ibswinfo), which has no counters of ports"
	jsonText    format = "JSON of NVOS or another program"
	multicast   format = "multicast tables (ibroute -M)"
	guidOrLIDs  format = "a list of GUIDs or LIDs"
	adaptiveDir format = "adaptive-routing groups (far), which are read with their folder"

	empty  format = "the file is empty"
	binary format = "binary data"
)

// kinds maps formats to the names that the command load uses.
var kinds = map[format]string{
	topology: "topology", portList: "topology", database: "topology", archive: "topology", subnetList: "subnet",
	saved: "snapshot",
	lfts:  "lfts", fdbs: "fdbs", mcfdbs: "mcfdbs", lidMatrix: "lid-matrix", sl2vl: "sl2vl",
}

// instead maps formats without a subnet to what has the subnet.
var instead = map[format]string{
	difference:  "use the two lists that were compared",
	nodeList:    "run 'ibnetdiscover'",
	onePath:     "run 'ibnetdiscover'; for tables, run 'dump_fts'",
	perfquery:   counterHint,
	errorList:   counterHint,
	attributes:  "run 'ibnetdiscover'",
	records:     "run 'ibnetdiscover'",
	netDump:     "use the folder of ibdiagnet, or its file db_csv",
	localPorts:  "run 'ibnetdiscover'",
	linkJSON:    linkHint,
	switchState: "run 'ibqueryerrors' or 'perfquery -x' for counters of its ports",
	jsonText:    "run 'ibnetdiscover' on a host of the subnet; for counters, 'ibqueryerrors' or 'mlxlink --json -c'",
	lfts:        tablesHint,
	fdbs:        tablesHint,
	mcfdbs:      tablesHint,
	multicast:   "use opensm.mcfdbs, which OpenSM writes with -D 0x43, or read the tables of the live subnet",
	lidMatrix:   tablesHint,
	sl2vl:       tablesHint,
}

const (
	counterHint = "counters are read next to a subnet, as SUBNET,COUNTERS"
	linkHint    = "mlxlink does not print the port; counters are read next to a subnet, as SUBNET,NODE/PORT=FILE"
	tablesHint  = "open the subnet of ibnetdiscover, then load the tables"
)

// signatures are patterns for the first line that is neither empty nor a comment. Topology files have no signature,
// because they may begin with any text.
var signatures = []struct {
	format format
	line   *regexp.Regexp
}{
	{subnetList, regexp.MustCompile(`^\{ (SW|CA|Rt)(-SM)? Ports:`)},
	{multicast, regexp.MustCompile(`^Multicast mlids \[`)},
	{lfts, regexp.MustCompile(`^(Unicast lids|Lids) \[`)},
	{fdbs, regexp.MustCompile(`^[A-Za-z0-9_]*dump_ucast_routes: Switch`)},
	{mcfdbs, regexp.MustCompile(`^Switch 0x[0-9a-fA-F]+$`)},
	{lidMatrix, regexp.MustCompile(`^Switch: guid 0x`)},
	{portList, regexp.MustCompile(ports)},
	{sl2vl, regexp.MustCompile(`^(Switch|Channel Adapter|Router) 0x[0-9a-fA-F]+, base LID`)},
	{adaptiveDir, regexp.MustCompile(`^File version: \d`)},
	{database, databaseLine},
	{guidOrLIDs, regexp.MustCompile(`^0x[0-9a-fA-F]+(\s|:|$)`)},
	{nodeList, regexp.MustCompile(`^(Ca|Switch|Rt|Router)\s*: 0x[0-9a-fA-F]{16} ports \d+ `)},
	{onePath, regexp.MustCompile(`^From ([a-zA-Z ]+ )?\{0x[0-9a-fA-F]{16}\}`)},
	{errorList, regexp.MustCompile(`^(Errors|Data Counters) for (0x[0-9a-fA-F]+ )?"`)},
	{records, regexp.MustCompile(`^[A-Za-z0-9]+Record dump:$`)},
	{netDump, regexp.MustCompile(`^"[^"]*", .*, 0x[0-9a-fA-F]{16}, LID \d+`)},
	{localPorts, regexp.MustCompile(`^(CA|Switch|Router|Infiniband device) '[^']*'`)},
	{managerLog, regexp.MustCompile(`^[A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d \d+ \[[0-9A-F]+\] 0x[0-9a-f]{2} ->`)},
	{partitions, regexp.MustCompile(`^\w*\s*=\s*0x[0-9a-fA-F]+\s*[,:]`)},
	{policy, regexp.MustCompile(`^(port-groups?|qos-(ulps|levels|match-rules))$`)},
	{options, optionLine},
	{switchState, regexp.MustCompile(`^(={49}|(node_desription|part_number|psu\d\.status|uptime \(sec\)) +[:|] .*)$`)},
	{jsonText, regexp.MustCompile(`^(\{ *("|$)|\[ *([{"]|$))`)},
}

// comments are signatures of formats that begin with a comment.
var comments = []struct {
	format format
	line   *regexp.Regexp
}{
	{perfquery, regexp.MustCompile(`^# Port[A-Za-z ]* counters: `)},
	{attributes, regexp.MustCompile(`^# (Node|Port|Switch)[A-Za-z ]* ?info: `)},
}

// optionLine matches a line of an opensm.conf: names of options with underscores, and some others.
var optionLine = regexp.MustCompile(`^([a-z0-9]+(_[a-z0-9]+)+|guid|lmc|qos|daemon|console)\s+\S+$`)

// linkDocument matches the beginning of mlxlink's JSON.
var linkDocument = regexp.MustCompile(`^\s*\{\s*"(result|status)"\s*:\s*\{\s*"(output|code|message)"\s*:`)

// differs matches a line that occurs in only one of two compared lists.
var differs = regexp.MustCompile(`(?m)^[<>]\s*(\[\d+\]|(Switch|Ca|Hca|Rt)\s+\d+ "|(0x[0-9a-fA-F]{16} +)?\d+ +\d+\[|` +
	`(Switch|CA|Router): |(SW|CA|RT) +\d+ +\d+ 0x|0x[0-9a-fA-F]{16} ")`)

// databaseLine matches the first line of an ibdiagnet database. It also matches the first line of a database whose
// beginning is missing.
var databaseLine = regexp.MustCompile(`^(START_[A-Z0-9_]+$|(?i:"?Node(Desc|Guid)"?,))`)

// ports matches the lines that identify a list of ports.
const ports = `^[ \t]*(Switch: 0x[0-9a-fA-F]+ .*:|(CA|Router): .*:|(SW|CA|RT) +\d+ +\d+ 0x[0-9a-fA-F]{16} .*|` +
	`0x[0-9a-fA-F]{16} ".*" +\d+ +\d+\[.*)\r?$`

// The patterns that identify a file whose first line is damaged.
var (
	portLine   = regexp.MustCompile(`(?m)` + ports)
	recordLine = regexp.MustCompile(`(?m)^[ \t]*(Switch|Ca|Hca|Rt)\s*\d+\s*"`)
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
	if isTar(head) {
		return archive
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return binary
	}
	if differs.Match(head) {
		return difference
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	for _, c := range comments {
		if c.line.Match(bytes.TrimLeft(head, " \t\r\n")) {
			return c.format
		}
	}
	if linkDocument.Match(head) {
		return linkJSON
	}
	first := firstLine(head)
	for _, s := range signatures {
		if s.line.Match(first) && (s.format != options || !recordLine.Match(head)) {
			return s.format
		}
	}
	if portLine.Match(head) && !recordLine.Match(head) {
		return portList
	}
	return topology
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
