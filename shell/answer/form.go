// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"fmt"
	"strings"

	"example.org/ibconsole/internal/base/prose"
)

// A form is a line of text with fields in braces:
//
//	{key}       the value of a field
//	{key|noun}  a count with its noun: "1 pair", "2 pairs"
//	{?key}      at the beginning: the line is left out where the field does not apply or is false
//
// A zero is shown. A form that names an unknown field is a fault of the declaration, which [Decl.Check] reports.

// formPart is a piece of a form: a text as it is, or a field.
type formPart struct {
	text, key, noun string
	condition       bool
}

// parseForm splits a form into its parts.
func parseForm(form string) ([]formPart, error) {
	var parts []formPart
	for form != "" {
		open := strings.IndexByte(form, '{')
		if open < 0 {
			return append(parts, formPart{text: form}), nil
		}
		if open > 0 {
			parts = append(parts, formPart{text: form[:open]})
		}
		end := strings.IndexByte(form, '}')
		if end < open {
			return nil, fmt.Errorf("form %q: a brace is not closed", form)
		}
		key, noun, _ := strings.Cut(form[open+1:end], "|")
		key, condition := strings.CutPrefix(key, "?")
		if key == "" {
			return nil, fmt.Errorf("form %q: a field has no name", form)
		}
		parts = append(parts, formPart{key: key, noun: noun, condition: condition})
		form = form[end+1:]
	}
	return parts, nil
}

// fill returns the line of a form, with ok false where a condition leaves it out.
func fill(parts []formPart, value func(key string) Value) (line string, ok bool) {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.key == "":
			b.WriteString(p.text)
		case p.condition:
			if v := value(p.key); v.IsNone() || v.Kind() == KindBool && !v.IsTrue() {
				return "", false
			}
		default:
			b.WriteString(p.fill(value(p.key)))
		}
	}
	return b.String(), true
}

func (p *formPart) fill(v Value) string {
	switch {
	case p.noun == "":
		return v.String()
	case v.Kind() != KindInt:
		return v.String() + " " + prose.Noun(2, p.noun)
	}
	return prose.Count(v.Int(), p.noun)
}

// checkForm returns an error where a form names no field of those.
func checkForm(form string, columns []Column, more ...string) error {
	parts, err := parseForm(form)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for i := range columns {
		known[columns[i].id()] = true
	}
	for _, key := range more {
		known[key] = true
	}
	for _, p := range parts {
		if p.key != "" && !known[p.key] {
			return fmt.Errorf("form %q: there is no field %q", form, p.key)
		}
	}
	return nil
}
