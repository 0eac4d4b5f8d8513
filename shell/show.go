// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
)

func guidText(g uint64) string { return fmt.Sprintf("0x%016x", g) }

func lidText(lid uint16) string { return prose.When(lid == 0, "-", fmt.Sprint(lid)) }

func orDash(s string) string { return cmp.Or(s, "-") }

const offWord = feature.OffWord
