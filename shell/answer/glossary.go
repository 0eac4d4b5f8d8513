// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"cmp"
	"strings"
)

// usual is the help of columns that mean the same in every answer, by the name of the column in lower case.
var usual = map[string]string{
	"node":     "node description, or the name from a node-name map",
	"switch":   "node description, or the name from a node-name map",
	"name":     "node description, or the name from a node-name map",
	"guid":     "GUID of the node",
	"lid":      "local identifier, assigned by the subnet manager",
	"lids":     "number of destination LIDs",
	"mlid":     "multicast LID, by which switches forward",
	"mgid":     "multicast GID, by which programs name the group",
	"port":     "node and port number; port 0 is the switch itself",
	"from":     "port from which packets leave",
	"to":       "port at which packets arrive",
	"link":     "active width and speed, for example 4xHDR",
	"paths":    "paths over the link, all end ports to all others",
	"sl":       "service level; SL2VL tables map it to a VL",
	"vl":       "virtual lane, with buffers of its own",
	"vls":      "virtual lanes in use",
	"mtu":      "largest packet, in bytes",
	"rate":     "slowest link that packets may cross, in Gbit/s",
	"p_key":    "partition key",
	"hops":     "links of the path",
	"next hop": "node at the other end of the port",
	"engine":   "routing engine",
	"why":      "reason, as found by this command",
	"entries":  "entries of forwarding tables",
	"changed":  "entries that differ",
	"lost":     "pairs of which a path does not arrive",
	"down":     "ports without a link",
}

// helpOf returns the help of a column, or else that of its name.
func helpOf(name, help string) string { return cmp.Or(help, usual[strings.ToLower(name)]) }
