// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
)

// A form is a line of text with fields in braces:
//
//	{key}       the value of a field
//	{key|noun}  a count with its noun: "1 pair", "2 pairs"
//	{key|#}     a number that is not a count, such as a LID, without commas between thousands
//	{key|clock} the time of day of a time: "15:04:05"
//	{?key}      a condition at the beginning: omits the line or the bracket if the field is false or does not apply
//	[text]      a text with fields, omitted if one of them is 0, false, empty or does not apply
//
// Outside brackets a zero is shown. A line is not printed if all its parts are omitted. [Decl.Check] reports forms with
// unknown fields.

// Prefixed returns a form with a prefix before the names of its fields, for the fields of a nested struct (see
// [Fields]).
func Prefixed(prefix, form string) string {
	return strings.NewReplacer("{?", "{?"+prefix, "{", "{"+prefix).Replace(form)
}

// formPart is a part of a form: a text, a field, or a part in brackets.
type formPart struct {
	text, key, noun string
	condition       bool
	optional        []formPart
}

// parseForm splits a form into its parts.
func parseForm(form string) ([]formPart, error) {
	parts, rest, err := parseParts(form)
	if err == nil && rest != "" {
		err = fmt.Errorf("form %q: no bracket to close", form)
	}
	return parts, err
}

// parseParts parses a form up to a closing bracket or the end. The result rest begins with that bracket.
func parseParts(form string) (parts []formPart, rest string, err error) {
	for form != "" {
		at := strings.IndexAny(form, "{[]")
		if at < 0 {
			return append(parts, formPart{text: form}), "", nil
		}
		if at > 0 {
			parts = append(parts, formPart{text: form[:at]})
		}
		sign := form[at]
		form = form[at:]
		switch sign {
		case ']':
			return parts, form, nil
		case '[':
			inner, rest, err := parseParts(form[1:])
			if err != nil {
				return nil, "", err
			}
			if !strings.HasPrefix(rest, "]") {
				return nil, "", fmt.Errorf("form %q: a bracket is not closed", form)
			}
			parts, form = append(parts, formPart{optional: inner}), rest[1:]
			continue
		}
		end := strings.IndexByte(form, '}')
		if end < 0 {
			return nil, "", fmt.Errorf("form %q: a brace is not closed", form)
		}
		key, noun, _ := strings.Cut(form[1:end], "|")
		key, condition := strings.CutPrefix(key, "?")
		if key == "" {
			return nil, "", fmt.Errorf("form %q: a field has no name", form)
		}
		parts = append(parts, formPart{key: key, noun: noun, condition: condition})
		form = form[end+1:]
	}
	return parts, "", nil
}

// fill returns the line that a form gives with the values of its fields. ok is false if the line is omitted.
func fill(parts []formPart, value func(key string) Value) (line string, ok bool) {
	var b strings.Builder
	omitted := false
	for _, p := range parts {
		switch {
		case p.optional != nil:
			text, ok := fill(p.optional, value)
			if !ok || slices.ContainsFunc(p.optional, func(p formPart) bool {
				return p.key != "" && value(p.key).isEmpty()
			}) {
				omitted = true
				continue
			}
			b.WriteString(text)
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
	return b.String(), !omitted || b.Len() > 0
}

// isEmpty reports whether the value is 0, false or empty, or does not apply.
func (v Value) isEmpty() bool {
	switch v.kind {
	case KindNone:
		return true
	case KindText:
		return v.text == ""
	case KindInt, KindBool, KindFloat, KindDuration:
		return v.num == 0
	case KindTexts, KindList, KindMap:
		return len(v.elements()) == 0
	}
	return false
}

func (p *formPart) fill(v Value) string {
	switch {
	case p.noun == "" && v.Kind() == KindInt:
		return prose.Thousands(v.Int())
	case p.noun == "" || p.noun == "#":
		return v.String()
	case p.noun == "clock" && v.Kind() == KindTime:
		return when.Clock(v.time())
	case v.Kind() != KindInt:
		return v.String() + " " + prose.Noun(2, p.noun)
	}
	return prose.Count(v.Int(), p.noun)
}

// checkForm returns an error if a form uses an unknown field or would print a condition. The argument more contains the
// names of further known fields.
func checkForm(form string, columns []Column, more ...string) error {
	parts, err := parseForm(form)
	if err != nil {
		return err
	}
	known := map[string]Kind{}
	for i := range columns {
		known[columns[i].id()] = columns[i].Kind
	}
	for _, key := range more {
		known[key] = KindText
	}
	return checkParts(form, parts, known, false)
}

// checkParts checks the parts of a form, or of a bracket in a form. A field with a truth value must not be printed in a
// bracket, because it would print "yes".
func checkParts(form string, parts []formPart, known map[string]Kind, bracket bool) error {
	for _, p := range parts {
		kind, ok := known[p.key]
		switch {
		case p.key != "" && !ok:
			return fmt.Errorf("form %q: unknown field %q", form, p.key)
		case p.key != "" && bracket && kind == KindBool && !p.condition:
			return fmt.Errorf("form %q: the bracket prints the truth value %q: write {?%s}", form, p.key, p.key)
		}
		if err := checkParts(form, p.optional, known, true); err != nil {
			return err
		}
	}
	return nil
}
