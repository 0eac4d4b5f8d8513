// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
)

func showCommands() []Spec {
	of := []lang.Option{feature.OfOption()}
	return []Spec{{Name: "show", Summary: "list what is in the subnet", Options: of, Subcommands: []Spec{
		{Name: "torus", Summary: "the switches at their coordinates, datelines and lost links, after torus-2QoS; a path or a tree", Run: onTables((*call).showTorus),
			Options: torusOptions()},
	}}}
}

func guidText(g uint64) string { return fmt.Sprintf("0x%016x", g) }

func lidText(lid uint16) string { return prose.When(lid == 0, "-", fmt.Sprint(lid)) }

func orDash(s string) string { return cmp.Or(s, "-") }

const offWord = feature.OffWord
