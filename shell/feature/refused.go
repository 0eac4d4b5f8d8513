// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/answer"
)

// Refusals is the table of the engines that refused to route.
var Refusals = answer.Table[engines.Refusal]{
	Key: "refused", Title: "engines that refused", Row: "  refused by: {engine}: {why}", MaxRows: 20,
	Fields: []answer.Field[engines.Refusal]{
		{Key: "engine", Name: "ENGINE", Kind: answer.KindText, Value: func(r engines.Refusal) answer.Value {
			return answer.Text(r.Engine)
		}},
		{Key: "why", Name: "WHY", Kind: answer.KindText, Value: func(r engines.Refusal) answer.Value {
			return answer.Text(r.Reason)
		}},
	},
}
