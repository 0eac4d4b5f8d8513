// SPDX-License-Identifier: Apache-2.0

package lang

// Foreign are programs of infiniband-diags and the commands here with the same answers. An error about an unknown
// command names them.
var Foreign = map[string]string{
	"iblinkinfo":       "show links",
	"ibnetdiscover":    "show nodes",
	"ibtracert":        "trace SRC DST",
	"perfquery":        "show counters NODE/PORT",
	"ibqueryerrors":    "problems, or show counters all",
	"ibroute":          "show lft SWITCH",
	"sminfo":           "show sms",
	"ibportstate":      "show ports NODE, or port to change one",
	"smpquery":         "show nodes NODE, show ports NODE, show sl2vl NODE or show vlarb NODE",
	"saquery":          "sa",
	"ibhosts":          "show nodes",
	"ibswitches":       "show switches",
	"ibnodes":          "show nodes",
	"ibstat":           "doctor",
	"ibcheckerrors":    "problems",
	"ibfindnodesusing": "who uses NODE/PORT",
}
