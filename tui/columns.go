// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"strings"

	"example.org/ibconsole/tui/draw"
)

// explained says what the columns of the panes are, in which unit and where from, by the name of the pane and of the
// column. Those of the answers are under Answer; what is the same in several panes is under "".
var explained = map[string]map[string]string{
	"": {
		"lid":         "local identifier, as the subnet manager gave it",
		"guid":        "of the node, as its maker gave it",
		"port guid":   "of the port, as its maker gave it",
		"port":        "NODE/PORT or its number, counted from 1; 0 is the switch itself",
		"link":        "width and speed that the link runs at, as PortInfo has it: 4xHDR",
		"paths":       "paths over it where each end port sends to each other one, by the tables of the picture that is shown",
		"lids":        "how many destination LIDs are sent over it",
		"mlid":        "multicast LID, which switches forward by",
		"mgid":        "multicast GID, which programs name the group by",
		"sl":          "service level, which packets carry; SL2VL tables make a VL of it",
		"vl":          "virtual lane, of which each has buffers of its own",
		"mtu":         "bytes of the largest packet",
		"rate":        "the slowest link that packets may meet, in Gbit/s",
		"p_key":       "partition key",
		"next hop":    "the node at the other end of that port",
		"destination": "the node, and for an adapter its port, that has the LID",
		"from":        "the port that packets leave by, or come from",
		"to":          "the port at the other end, or that packets go to",
		"switch":      "the switch that it is attached to or about",
		"engine":      "the routing engine that made the tables",
		"unreachable": "nodes or end ports that failures have separated from the subnet",
		"switches":    "how many switches it takes",
	},
	"All": {
		"subnet":     "as -s or the configuration names it, else by its source",
		"hosts":      "machines with an adapter in it, without aggregation nodes",
		"links":      "cables, those of hosts too",
		"down":       "links that were lost, or are missing beside the baseline",
		"errors":     "problems that are errors; its pane 1 has them",
		"warnings":   "problems that are warnings",
		"worst load": "paths over its busiest link between switches where each end port sends to each other one",
		"differs":    "what it has otherwise than most of the subnets: b lists that",
		"state":      "when it was read, its master subnet manager, what runs or is on paper there; or why nothing is known",
		"differs in": "size, hosts, cabling, speed or engine; most of the subnets are the measure",
		"what":       "the host, port or link: Enter goes there",
	},
	"Counters": {
		"to":        "the port at the other end of its link",
		"counted":   "by how much its counters grew in that time, as far as it was recorded; or more: one was cleared, or stands at its greatest value",
		"an hour":   "the sum of those, an hour",
		"since":     "the end of the first reading in which one had grown; before: it stood at its greatest value all the time",
		"over time": "by how much they grew in each twelfth of that time",
		"sends":     "data that left by the port, by PortXmitData",
		"use":       "that as a part of what the link can carry",
		"by tables": "the data beside what the tables put there where each end port sends to each other one, both as parts of the mean of the links between switches: 1.00x is as by the tables",
		"waits/s":   "ticks a second in which it had something to send and no credits (PortXmitWait)",
		"link":      "width and speed that it runs at",
	},
	"Problems": {
		"what":    "how bad it is: error, warning or note",
		"problem": "of which kind, and how often where several are one row: Enter opens those",
		"where":   "the port, node or link that has it",
		"look at": "what to do or to look at next",
	},
	"Topology": {
		"name":     "as the node says it is called, or as a name map does",
		"port":     "the number of the port, counted from 1",
		"ports up": "ports with a link of those that there are",
		"links":    "ports with a link of those that there are",
		"load":     "paths over the busiest of its links, beside the busiest of all; by the tables of the picture that is shown",
		"note":     "what ails it, and what failed on paper",
	},
	"LFT": {
		"errors": "that the ports at both ends of the link counted in the last hour, as far as it was recorded",
		"use":    "the share of its link that the port sent with in the last hour, as far as it was recorded",
		"by":     "how packets choose among the ports of the LID's group: static means by the table alone",
		"group":  "the ports that adaptive routing chooses among; those after then are tried when none before will do",
		"port":   "the port that the switch sends this LID by, as its forwarding table says; 0 for itself",
		"hops":   "switches that follow on the way there; found by following the tables",
		"was":    "the port in the picture that this one is compared with",
		"share":  "LIDs sent by this port, beside those of the fullest one",
	},
	"Trace": {
		"use":    "the share of its link that the port by which packets leave sent with in the last hour, as far as it was recorded",
		"node":   "the nodes of the path in the order of the packets",
		"in":     "the port that packets come in by",
		"out":    "the port that they leave by, and its link",
		"ports":  "which of the ports that are as near to the destination the table names, of how many",
		"errors": "errors of the link by the counters of both its ports, since they were cleared",
		"VL":     "the VL by which packets leave, by the SL2VL tables; 0→1 where they came by another one",
		"hop":    "what happens there: up and down by rank, where it turns, datelines of a torus, drops, credit loops",
		"back":   "whether the way back has the same hop, another port of this node, or another switch in its place",
		"LIDs":   "to how many LIDs of the destination packets leave by the same port",
		"is":     "whether both directions have the same hop, other ports of one node, or other switches",
		"shared": "links that it has in common with the path that is shown, of how many",
	},
	"What-if": {
		"what":   "what failed, and what follows; Enter opens what a figure counts",
		"before": "in the picture that it is compared with",
		"after":  "in the picture that is shown",
	},
	"Load": {
		"use":     "the share of it that was sent with in the last hour, as far as it was recorded: what is measured, beside what the tables put there",
		"load":    "paths over it, beside the busiest link",
		"of mean": "paths by their mean over the links between switches that are used: 2.00x is twice the mean",
	},
	"History": {
		"id":      "the number of the entry, which commands take",
		"from":    "when it was first so",
		"for":     "how long it stayed so",
		"what":    "a sweep that found something new, a routing, a commit, and what it changed",
		"figures": "what was measured then, by name",
		"who":     "the user that did it",
		"when":    "when a sweep found it",
		"event":   "what was new",
		"time":    "when it was seen",
	},
	"Log": {"time": "when it was begun", "line": "the command, and what it said"},
	"Resilience": {
		"what fails": "the link, the switch or the first link of a pair",
		"and":        "the second link of the pair",
		"paths lost": "paths that arrived before and do not after it was routed again",
		"busiest":    "paths over the busiest link afterwards",
		"growth":     "those by the paths over the busiest link before",
		"at":         "the busiest link afterwards",
		"entries":    "entries of forwarding tables that change",
	},
	"Groups": {
		"members":              "end ports that have joined",
		"gone":                 "members that the subnet has no more",
		"tree":                 "whether each member gets each packet once",
		"port, where it leads": "the ports that packets of the group leave by, from the top of the tree",
		"member":               "the end port that has joined",
		"join":                 "whether it receives, only sends, or only sends and is no member",
	},
	"Answer": {
		"open": "questions without an answer", "event": "what a sweep found to be new",
		"on": "whether adaptive routing is on", "fast reroute": "whether another port of the group is taken at once where the static port is down", "sls": "service levels whose packets may be routed adaptively, a bit each",
		"port groups": "groups of ports that it has", "lfts": "forwarding tables that it has: more than one are private ones", "free": "LIDs whose packets take any port of their group",
		"bounded": "LIDs whose bursts keep to a port of their group", "hash": "LIDs whose flows are spread over their group by a hash", "static": "LIDs, or paths, by the linear table alone",
		"group": "the number of the group on that switch", "in group": "ports of the group; those after then are tried when none before will do", "down": "ports of the group without a link",
		"reached": "by luck: by some choices of switches, and not by others", "can loop": "whether some choice sends packets round a loop", "of packets": "the share of the pair's packets, if all choices are alike", "packets of": "as many packets as this many pairs send, if all choices are alike",
		"now reached": "before a subnet manager acts: by luck, by some choices; never, by none", "pairs": "pairs of end ports", "settings": "of adaptive routing, that differ", "shares": "paths, a pair with several counting for each with its share",
		"id": "the number of the entry of the history", "name": "of the node or the set", "node": "as it says it is called", "number": "the one that undo takes",
		"what": "of which kind it is", "why": "where and why packets are lost", "where": "the port, node or link that has it", "problem": "of which kind", "try": "what to do next",
		"state": "of the port or manager, or what became of it",
		"hops":  "the most links of a path, and the mean", "root": "whether updn takes it for a root", "rank": "links from the nearest root",
		">90%": "distances at which more than 90 % of the hosts are", ">5%": "distances at which more than 5 % of the hosts are", "hops:hosts": "how many hosts are at which distance",
		"balanced": "whether no two ports of the switch to switches differ by more than one LID", "uneven": "what differs by more than one LID: ports, neighbours",
		"by neighbour": "LIDs of the port sent to each neighbour", "by port": "LIDs of the port sent by each port",
		"gb/s": "10^9 bytes a second, between two readings of the counters", "used": "that by the rate of the link", "waits/s": "how often packets had to wait for credits, a second",
		"of mean": "paths by their mean over the links between switches that are used", "counters": "what the port has counted, and what came since the last reading",
		"held by": "an end port whose packets hold this link while they wait for the next", "fault": "what goes wrong in the group",
		"ports": "the ports concerned", "time": "what the routing took", "allocated": "how much memory the program asked for meanwhile",
		"worst": "paths over the busiest link, all to all", "shift": "shift figure: the most paths over one link while each host sends to the K-th behind it, over all K that were tried",
		"bisection": "effective bisection bandwidth, as a part of the full one", "vls": "virtual lanes that it needs", "credit loop": "whether packets can wait for each other in a ring",
		"changed": "entries that are others than before, or than on the switches", "lost": "pairs of which a path does not arrive",
		"port was": "the port before", "port is": "the port now", "lid was": "the LID before", "lid is": "the LID now", "top was": "LinearFDBTop before", "top is": "LinearFDBTop now",
		"entries": "entries of forwarding tables", "blocks": "blocks of 64 entries that would be written",
		"paths was": "paths over the link before", "change": "paths more or less", "entries was": "LIDs over the link before",
		"members": "end ports that have joined", "join": "how it takes part", "until": "when it was last so", "who": "the user that did it", "options": "of the engine",
		"figures": "what was measured then, by name", "hosts": "how many the set has", "not in the subnet": "hosts of the set that no sweep has found",
		"its paths": "paths among the set over this link", "all paths": "paths of all over this link", "of others": "paths over it that are not of the set",
		"links": "links that are concerned", "life": "how long a packet may take at most", "fails": "what fails",
		"lost paths": "paths that arrived before and do not afterwards", "worst load": "paths over the busiest link afterwards", "at": "that link",
		"tables": "what the tables say", "priority": "the higher one is master", "vendor": "of the node, by its OUI", "in a switch": "whether the manager runs inside a switch",
		"out": "the port that packets leave by", "in": "the port that they came by", "vl of sl 0 to 15": "the VL that each service level takes",
		"picture": "live, base, what-if or staged", "as of": "when it was read or made", "nodes": "how many", "highest lid": "the highest unicast LID in use", "sl2vl": "whether it has VLs", "groups": "multicast groups",
		"expected": "its share of what all sent, by the paths that the tables lay over it", "apart": "what it sent more or less than expected, by its rate",
		"counted": "what counters grew by", "an hour": "errors an hour, over the readings in that time", "first by": "when it was first seen to have grown", "last by": "when it was last seen to have grown",
		"target": "whom the session asked", "sent": "request frames, repeated ones included", "retried": "request frames that were sent again",
		"responses": "responses that ended a request", "unanswered": "requests without a response", "late": "responses that came too late or twice",
		"mean": "time to the answer", "longest": "time to the answer", "table": "of high or low priority", "vl:weight": "how many units of 64 bytes a VL may send in its turn",
	},
}

// explain returns what a column is, "" where that is not declared.
func explain(pane string, c *draw.Column) string {
	column := strings.ToLower(strings.TrimSpace(c.Name))
	if text := cmp.Or(c.Help, explained[pane][column], explained[""][column]); text != "" {
		return text
	}
	if engine, ok := strings.CutSuffix(column, " paths"); ok {
		return "paths over the link by the tables of " + engine
	}
	return ""
}
