// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

#define LINE 512

struct text {
	char *at;
	size_t size, length;
};

static void add(struct text *text, char c)
{
	if (text->length + 1 < text->size)
		text->at[text->length] = c;
	text->length++;
}

static void add_number(struct text *text, unsigned long number, unsigned int base)
{
	char digits[24];
	int i = 0;

	do {
		digits[i++] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	while (i)
		add(text, digits[--i]);
}

/* %c %s %d %u %x %%, of which numbers may be long. */
int vsnprintf(char *to, size_t size, const char *format, va_list arguments)
{
	struct text text = { to, size, 0 };

	for (; *format; format++) {
		bool large = false;
		unsigned long number;

		if (*format != '%') {
			add(&text, *format);
			continue;
		}
		while (*++format == 'l' || *format == 'z')
			large = true;
		switch (*format) {
		case 'c':
			add(&text, va_arg(arguments, int));
			break;
		case 's':
			for (const char *s = va_arg(arguments, const char *); *s; s++)
				add(&text, *s);
			break;
		case 'd':
			number = large ? va_arg(arguments, long) : va_arg(arguments, int);
			if ((long)number < 0) {
				add(&text, '-');
				number = -number;
			}
			add_number(&text, number, 10);
			break;
		case 'u':
		case 'x':
			number = large ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned int);
			add_number(&text, number, *format == 'x' ? 16 : 10);
			break;
		case '%':
			add(&text, '%');
			break;
		default:
			crash("a format that text.c does not know");
		}
	}
	if (size)
		to[text.length < size ? text.length : size - 1] = '\0';
	return text.length;
}

int snprintf(char *to, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(to, size, format, arguments);
	va_end(arguments);
	return length;
}

static void format_line(char line[LINE], const char *format, va_list arguments)
{
	if (vsnprintf(line, LINE, format, arguments) >= LINE)
		crash("a line is too long");
}

void say(const char *format, ...)
{
	char line[LINE];
	va_list arguments;

	va_start(arguments, format);
	format_line(line, format, arguments);
	va_end(arguments);
	write_console(line, strlen(line));
}

void die_of(const char *format, ...)
{
	char line[LINE];
	va_list arguments;

	va_start(arguments, format);
	format_line(line, format, arguments);
	va_end(arguments);
	crash(line);
}

size_t strlen(const char *s)
{
	size_t length = 0;

	while (s[length])
		length++;
	return length;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

char *strerror(int error)
{
	switch (error) {
	case E2BIG:
		return "Argument list too long";
	case EFAULT:
		return "Bad address";
	case EINVAL:
		return "Invalid argument";
	case EOPNOTSUPP:
		return "Operation not supported";
	default:
		return "another error";
	}
}

/* Numbers as the tests write them: decimal, or hexadecimal with 0x. */
unsigned long strtoul(const char *s, char **end, int base)
{
	unsigned long number = 0;
	int digit;

	if (end || base)
		crash("strtoul() of text.c knows neither an end nor a base");
	base = 10;
	if (s[0] == '0' && s[1] == 'x') {
		base = 16;
		s += 2;
	}
	for (; *s; s++) {
		digit = *s >= 'a' ? *s - 'a' + 10 : *s - '0';
		if (digit < 0 || digit >= base)
			die_of("'%s' is no number", s);
		number = number * base + digit;
	}
	return number;
}
